// numpy-ts as an implementation. `../README.md` is the protocol, `../js/` speaks it.

import { quiet, serve } from "../js/index.mjs";

quiet();
const { library } = await import("./operations.mjs");
await serve(await library());
