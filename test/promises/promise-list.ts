/** Promises are numbered from 1 to this. */
export const PROMISES = 43;

/** Promises about parts that do not exist yet, and which part that is. */
export const NOT_BUILT: Readonly<Record<number, string>> = {
  35: "DURABILITY=strict is not built",
  39: "there is one release only",
  41: "the console is not built",
  42: "the console is not built",
  43: "the console is not built",
};
