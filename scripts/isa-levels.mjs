// Prints the instruction-set levels below the detected one: the default test run covers that one.
import { capabilities } from "../dist/index.js";

const levels = ["baseline", "avx2", "avx512"];
console.log(levels.slice(0, levels.indexOf(capabilities().isaDetected)).join("\n"));
