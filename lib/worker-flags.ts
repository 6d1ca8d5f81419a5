/**
 * @internal `execArgv` of a worker thread. Flags of the process are inherited when none are given (a list that holds one
 * of the engine's, `--expose-gc` say, is refused), except that `--input-type`, which is for a script on the command line,
 * keeps a thread from loading its file.
 */
export function workerFlags(): { execArgv?: string[] } {
  return process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {};
}
