// What descriptions of libraries for JavaScript are put together of. Their functions result in something, and write to
// nothing that they are given.

/** A function of two operands, whose other parameters keep their defaults. */
export const binary = (call) => (left, right) => call(left, right);

/** The operations of a table of functions. `prepare` makes of each argument what the function is given. */
export function operations(table, prepare = (argument) => argument) {
  const functional = (call) => (_form, _out, ...args) => call(...args.map(prepare));
  return Object.fromEntries(Object.entries(table).map(([name, call]) => [name, functional(call)]));
}

/**
 * The entries of `lacks` in `hello`: of arguments, each named by the operation and itself, of dtypes, and of all forms that
 * write to something, each with the reason.
 */
export function lacks({ args, dtypes, noDtype, immutable }) {
  return [
    ...Object.entries(args).map(([key, why]) => {
      const [op, argument] = key.split(" ");
      return { op, argument, why };
    }),
    ...dtypes.map((dtype) => ({ dtype, why: noDtype })),
    ...["in_place", "out"].map((form) => ({ form, why: immutable })),
  ];
}

/** A function that finds broadcheck's class of an error: that of the first pattern in its text, which begins with the operation. */
export function classifier(table) {
  return (error, op) => table.find(([pattern]) => pattern.test(`${op}: ${error.message}`))?.[1];
}

/** The platform of a backend. */
export const interpreter = () => `Node.js ${process.version} on ${process.platform} ${process.arch}`;
