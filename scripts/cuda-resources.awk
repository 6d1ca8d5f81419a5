# ptxas -v, demangled, as lines "file kernel architecture registers shared spilled stack".
$1 == "source" { file = $2 }
/Compiling entry function/ {
  architecture = $0
  sub(/.* for ./, "", architecture); sub(/[^a-z0-9_].*/, "", architecture)
  kernel = $0
  sub(/.*entry function ./, "", kernel); sub(/. for .sm_.*/, "", kernel)
  gsub(/minform::cuda::|\(anonymous namespace\)::|minform::/, "", kernel)
  sub(/^void run</, "", kernel); sub(/ ?>\(.*/, "", kernel); gsub(/ /, "", kernel)
}
/bytes stack frame/ { stack = $1; spilled = $5 + $9 }
/Used [0-9]+ registers/ {
  registers = shared = 0
  for (i = 1; i < NF; i++) {
    if ($(i + 1) ~ /^registers/) registers = $i
    if ($(i + 2) ~ /^smem/) shared = $i
  }
  print file, kernel, architecture, registers, shared, spilled, stack
}
