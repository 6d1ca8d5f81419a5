# The page of kernels, from sorted lines "file kernel architecture registers shared spilled stack".
function flush() {
  if (row == "") return
  registers = low == high ? low : low " to " high
  printf "| `%s` | `%s` | %s | %d |\n", file, kernel, registers, shared
}
BEGIN {
  print "---\ntitle: Kernel resources\n---\n"
  print "# Registers and shared memory of the kernels\n"
  print "As `ptxas` of nvcc " version " reports them over all architectures from sm_75 to sm_120; another version gives other"
  print "numbers. No kernel spills and none has a stack frame: `scripts/cuda-resources.sh` fails where one does, and with"
  print "`--markdown` prints this page.\n"
  print "| file | kernel | registers | static shared bytes |"
  print "|---|---|---|---|"
}
{
  if ($1 " " $2 != row) {
    flush()
    row = $1 " " $2; file = $1; kernel = $2; low = high = $4; shared = $5
  }
  if ($4 < low) low = $4
  if ($4 > high) high = $4
  if ($5 > shared) shared = $5
}
END { flush() }
