// Records the calls of a library that a program makes, and writes them as a program in the library alone.
//
// If the variable `BROADCHECK_RENDER` names a file, `recorded` gives adapters a library whose functions, methods and
// classes note their calls. Without the variable it gives the library itself.

import { writeFileSync } from "node:fs";

const FILE = process.env.BROADCHECK_RENDER;

/** The state of one program. */
const state = { on: false, making: false, count: 0, lines: [], body: [], prints: [], imports: new Map(), pending: null, settings: [], begun: false };

/** The expressions of values of the library, and the values behind the wrappers. */
const names = new WeakMap();
const targets = new WeakMap();
const wrappers = new WeakMap();
/** How many references to a value the next calls use up, for a library that counts them. */
const references = new WeakMap();

/** True if this process is to write the program. */
export const isWanted = FILE !== undefined;

/** A library as adapters get it. `path` is how a program imports it, `alias` what it calls it. */
export function recorded(library, path, alias) {
  if (!isWanted) return library;
  state.imports.set(alias, `const ${alias} = await import(${JSON.stringify(path)});`);
  return wrap(library, alias);
}

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const isPlain = (value) => Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Promise;

/** The value itself. */
export function unwrap(value) {
  if (!isObject(value)) return value;
  if (targets.has(value)) return targets.get(value);
  if (Array.isArray(value)) return value.map(unwrap);
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unwrap(each)]));
  }
  return value;
}

/** A value of the library with the expression that the program has for it. */
function wrap(value, text) {
  if (!isObject(value) || ArrayBuffer.isView(value) || value instanceof Promise) return value;
  if (Array.isArray(value)) return value.map((each, at) => wrap(each, `${text}[${at}]`));
  if (text !== undefined && !names.has(value)) names.set(value, text);
  if (wrappers.has(value)) return wrappers.get(value);
  // A proxy has to give what a frozen target has, such as a module: an object of its own has nothing.
  const shell = typeof value === "function" ? function () {} : Object.create(Object.getPrototypeOf(value));
  const wrapper = new Proxy(shell, {
    get: (_shell, key) => get(value, key),
    has: (_shell, key) => key in value,
    getPrototypeOf: () => Object.getPrototypeOf(value),
    apply: (_shell, self, args) => call(value, undefined, unwrap(self), args),
    construct: (_shell, args) => new value(...args.map(unwrap)),
  });
  wrappers.set(value, wrapper);
  targets.set(wrapper, value);
  return wrapper;
}

function get(value, key) {
  const found = value[key];
  const name = names.get(value);
  if (typeof key === "symbol" || key === "prototype" || key === "constructor") return found;
  if (typeof found === "function") {
    const isClass = found.prototype !== undefined && Object.getOwnPropertyNames(found.prototype).length > 1;
    if (isClass || /^class\b/.test(Function.prototype.toString.call(found))) return found;
    // A method keeps its object, and a function of the library its name.
    return (...args) => call(found, `${name}.${key}`, value, args);
  }
  // A new reference to the same array.
  if (found === value) {
    if (state.on) references.set(value, (references.get(value) ?? 0) + 1);
    return wrap(found);
  }
  return isPlain(found) || !isObject(found) ? found : wrap(found, `${name}.${key}`);
}

/** A call of the library. */
function call(target, name, self, args) {
  const given = args.map(unwrap);
  if (!state.on) return outside(target, name, self, given);
  const shown = given.map((each) => (each instanceof ArrayBuffer ? buffer(each, given[1]) : literal(each)));
  const text = `${name ?? names.get(target)}(${shown.join(", ")})`;
  state.pending = text;
  save();
  const result = target.apply(self, given);
  const settle = (found) => {
    state.pending = null;
    const variable = `_${++state.count}`;
    state.lines.push([variable, text, found]);
    return wrap(found, variable);
  };
  return result instanceof Promise ? result.then((found) => {
    state.pending = null;
    state.lines.push([`_${++state.count}`, `await ${text}`, found]);
    return wrap(found, `_${state.count}`);
  }) : settle(result);
}

/** A call that is no part of a step. What sets how the library works is written before the program. */
function outside(target, name, self, given) {
  const result = target.apply(self, given);
  if (!state.begun && /\.(init|defaultDevice|set\w*)$/.test(name ?? "") && given.length > 0) {
    state.settings.push(`${result instanceof Promise ? "await " : ""}${name}(${given.map(literal).join(", ")});`);
  }
  return wrap(result, undefined);
}

/** A value as JavaScript writes it. */
function literal(value) {
  if (isObject(value) && names.has(value)) {
    const count = references.get(value) ?? 0;
    references.set(value, Math.max(count - 1, 0));
    return `${names.get(value)}${count > 0 ? ".ref" : ""}`;
  }
  if (value === undefined || value === null) return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Float32Array) return `new Float32Array([${Array.from(value, short).join(", ")}])`;
  if (ArrayBuffer.isView(value)) return `new ${value.constructor.name}([${Array.from(value, literal).join(", ")}])`;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([key, each]) => `${key}: ${literal(each)}`).join(", ")} }`;
}

/** Memory, by its elements if the dtype is one that JavaScript has an array of. */
function buffer(memory, dtype) {
  const name = String(dtype).replace(/^(big)?(uint|int|float)(\d+)$/, (_all, _big, kind, bits) => {
    const Kind = { uint: "Uint", int: "Int", float: "Float" }[kind];
    return `${bits === "64" && kind !== "float" ? "Big" : ""}${Kind}${bits}Array`;
  });
  return `${literal(new (globalThis[name] ?? Uint8Array)(memory))}.buffer`;
}

/** The shortest text that is this number as a float32. */
function short(value) {
  const shorter = [1, 2, 3, 4, 5, 6, 7, 8].map((digits) => String(Number(value.toPrecision(digits))));
  return Object.is(value, -0) ? "-0" : (shorter.find((text) => Math.fround(Number(text)) === value) ?? String(value));
}

/** Begins a program. */
export const begin = () => {
  const body = [...state.settings];
  Object.assign(state, { on: false, begun: true, count: 0, lines: [], body, prints: [], pending: null });
};

/** Makes an input, or runs a step, and writes its calls. */
export async function record(name, make) {
  const variable = variableOf(name);
  Object.assign(state, { on: true, lines: [], pending: null });
  try {
    const result = await make();
    state.on = false;
    finish(variable, result);
    return result;
  } catch (error) {
    state.on = false;
    if (state.pending !== null) raised(variable, error);
    throw error;
  } finally {
    state.pending = null;
    save();
  }
}

const variableOf = (name) => `$${name.replace(/\W/g, "_")}`;

function finish(variable, result) {
  const plain = unwrap(result);
  const lines = state.lines.map(([name, text]) => [name, text]);
  const at = state.lines.findLastIndex(([, , found]) => Object.is(unwrap(found), plain));
  if (at >= 0) lines[at][0] = variable;
  else if (Array.isArray(plain)) lines.push([variable, literal(plain)]);
  else if (isObject(plain) && names.has(plain)) lines.push([variable, names.get(plain)]);
  else lines.push([variable, literal(plain)]);
  state.body.push(...declared(lines, at >= 0 ? state.lines[at][0] : undefined, variable));
  if (Array.isArray(plain)) plain.forEach((each, number) => isObject(each) && names.set(each, `${variable}[${number}]`));
  else if (isObject(plain)) names.set(plain, variable);
}

/** Declarations, with a variable that is used once in its place. */
function declared(lines, old, variable) {
  const swap = (text) => (old ? text.replaceAll(new RegExp(`(?<![\\w$])${old}(?!\\w)`, "g"), () => variable) : text);
  let all = lines.map(([name, text]) => [name, swap(text)]);
  for (let at = 0; at + 1 < all.length; ) {
    const [name, text] = all[at];
    const uses = all.slice(at + 1).map(([, each]) => each.split(new RegExp(`(?<![\\w$])${name.replace("$", "\\$")}(?!\\w)`)).length - 1);
    const isOnce = name.startsWith("_") && uses[0] === 1 && uses.reduce((sum, each) => sum + each) === 1;
    if (!isOnce) {
      at += 1;
      continue;
    }
    const inside = text.startsWith("await ") ? `(${text})` : text;
    all[at + 1][1] = all[at + 1][1].replace(new RegExp(`(?<![\\w$])${name}(?!\\w)`), () => inside);
    all.splice(at, 1);
    at = Math.max(at - 1, 0);
  }
  return all.map(([name, text]) => `const ${name} = ${text};`);
}

function raised(variable, error) {
  const lines = declared([...state.lines.map(([name, text]) => [name, text]), [variable, state.pending]]);
  state.body.push("try {", ...lines.map((line) => `  ${line}`), "} catch (error) {");
  state.body.push(`  console.log("${variable.slice(1)}:", String(error.message ?? error).split("\\n")[0]);`, "}");
  state.prints.push(`${variable.slice(1)}: ${String(error?.message ?? error).split("\n")[0]}`);
}

/** Prints the value of a step: a tensor with its dtype, its shape and its elements. */
export async function print(name, value, isTensor) {
  const of = variableOf(name);
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) await shown(`${name}[${at}]`, `${of}[${at}]`, unwrap(each), isTensor(each));
  } else {
    await shown(name, of, unwrap(value), isTensor(value));
  }
  save();
}

async function shown(name, variable, value, isTensor) {
  if (!isTensor) {
    state.body.push(`console.log("${name}:", String(${variable}));`);
    state.prints.push(`${name}: ${value}`);
    return;
  }
  const [form, read] = [
    ["$.tolist()", (of) => of.tolist()],
    ["await $.ref.data()", (of) => of.ref.data()],
    ["await $.data()", (of) => of.data()],
  ].find(([text]) => (text.includes("tolist") ? value.tolist : !text.includes(".ref") || value.ref));
  const elements = form.replace("$", () => variable);
  state.body.push(`console.log("${name}:", ${variable}.dtype, \`[\${${variable}.shape}]\`, String(${elements}));`);
  state.prints.push(`${name}: ${value.dtype} [${value.shape}] ${await read(value)}`);
}

/** Writes the program to the file, as far as it has run. */
function save() {
  const open = state.pending === null ? [] : [`${state.pending};`, "// The process does not survive this call."];
  const text = [...state.body, ...open].join("\n");
  const imports = [...state.imports].filter(([alias]) => text.includes(`${alias}.`)).map(([, line]) => line);
  const prints = state.prints.map((line, at) => `// ${at === 0 ? "prints: " : ""}${line}`);
  // In a block, so that two programs can follow each other in one file.
  const block = [...imports, "", ...text.split("\n")].map((line) => (line ? `  ${line}` : line));
  writeFileSync(FILE, ["js", "{", ...block, "}", ...prints, ""].join("\n"));
}
