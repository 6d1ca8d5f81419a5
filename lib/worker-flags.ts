// Flags that say how a thread finds its modules; those of the engine (`--expose-gc`) are refused in a list.
const LOADING = /^(--require|-r|--import|--loader|--experimental-loader|--conditions|-C)(=|$)/;

/**
 * @internal `execArgv` of a worker thread: without it the flags of the process are inherited, except that
 * `--input-type`, which is for a script on the command line, would keep a thread from loading its file.
 */
export function workerFlags(): { execArgv?: string[] } {
  const flags = process.execArgv;
  if (!flags.some((flag) => flag.startsWith("--input-type"))) return {};
  const isValue = (i: number) => LOADING.exec(flags[i - 1] ?? "")?.[2] === "";
  return { execArgv: flags.filter((flag, i) => LOADING.test(flag) || isValue(i)) };
}
