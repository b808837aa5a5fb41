/*
 * Senders often forget to replace the name of a value by the value, or print a variable that has none. Such text must not identify an order:
 * all orders with it would count as one. Every way in uses this one judgement (G216).
 */

/** What a name in marks may contain: `order.id`, `sub:none`, `lpurl+2`, `$json`. */
const NAME = String.raw`[_$]{0,2}\p{L}[\p{L}\p{N}_$.:|/+?-]{0,63}`;
/** Between braces and angle brackets a name may have blanks, too. In square brackets, `[red shoes]` is a keyword. */
const SPACED_NAME = String.raw`\s{0,8}[_$]{0,2}\p{L}[\p{L}\p{N}_$.:|/+? -]{0,63}\s{0,8}`;
const FORMS: readonly RegExp[] = [
  // {name}, ${name}, #{name}, {} and the {0} of format strings.
  new RegExp(String.raw`^[$#@]?\{(?:${SPACED_NAME}|\d{0,2}|\s{1,8})\}$`, "u"),
  // Braces within braces are never JSON: {{order["id"] | filter}}.
  /^[$#@]?\{{2,3}[^{}]{0,128}\}{2,3}$/u,
  new RegExp(String.raw`^\[{1,2}%?(?:${NAME})?%?\]{1,2}$`, "u"),
  new RegExp(String.raw`^<{1,2}(?:${SPACED_NAME})>{1,2}$`, "u"),
  /^<[%?][^<>]{0,128}[%?]>$/u,
  new RegExp(String.raw`^%{1,2}${NAME}%{1,2}$`, "u"),
  new RegExp(String.raw`^#{1,2}${NAME}#{1,2}$`, "u"),
  new RegExp(String.raw`^\*\|${NAME}\|\*$`, "u"),
  new RegExp(String.raw`^__${NAME}__$`, "u"),
  new RegExp(String.raw`^\$\(${NAME}\)$`, "u"),
  // A variable in a text whose quotes keep it as it is: $order_id, $order->id, $order['id'].
  /^\$[A-Za-z_][\w.]{0,63}(?:->\w{1,64}|\[['"]?\w{1,64}['"]?\]){0,4}$/u,
  // %s, %1$s, and what Go prints for a missing argument.
  /^%(?:\d\$)?[sdiv@]$/u,
  /^%![a-z]?\([^()]{0,64}\)$/u,
];
/** A GUID, or a long hexadecimal number: a value, also in braces. */
const HEXADECIMAL =
  /^[^0-9a-f]{0,3}(?=[^0-9]{0,32}[0-9])[0-9a-f][0-9a-f-]{14,}[0-9a-f][^0-9a-f]{0,3}$/i;
const LENGTH_MAX = 140;

/** What programs print for nothing, in any case: words, and texts that begin with a mark. */
const WORDS: ReadonlySet<string> = new Set(["undefined", "null", "nil", "nan", "n/a"]);
const MARKED_WORDS: ReadonlySet<string> = new Set([
  ...["#n/a", "#null!", "#ref!", "#value!", "#name?"],
  ...["(undefined)", "(null)", "(nil)", "(none)", "(not set)"],
  "\\n",
]);
const MARKED_LENGTH_MAX = 11;
/** What JavaScript prints for objects. */
const OBJECTS = /^(?:\[object [A-Z][A-Za-z]{1,30}\],?){1,8}$/;
/** What PHP prints for a list, and Python for nothing. In lower case both are words of people. */
const EXACT_WORDS: ReadonlySet<string> = new Set(["Array", "None"]);

/** By character code: how a text that begins with it may have no value. A look-up decides all others. */
const MARK = 1;
const LETTER = 2;
const BEGINNINGS = beginnings({ marks: "{[<%#$@_*(\"'\\ \t", letters: "nNuUA" });

/** Whether the text of a free field is only the name of a value, or a word for nothing (G216). */
export function isNoValue(text: string): boolean {
  const beginning = BEGINNINGS[text.charCodeAt(0)];
  if (beginning === MARK) return text.length <= LENGTH_MAX && isMarkedNothing(unquoted(text));
  return beginning === LETTER && isWord(text);
}

/** As {@link isNoValue} for a field that names a record, whose code may be any word. */
export function isUnreplacedName(text: string): boolean {
  const isMarked = BEGINNINGS[text.charCodeAt(0)] === MARK;
  return isMarked && text.length <= LENGTH_MAX && isNameOf(unquoted(text));
}

/** Compares lengths first: most values that begin with these letters are other words. */
function isWord(text: string): boolean {
  const { length } = text;
  if ((length > 6 && length < 9) || length > 12) return false;
  const trimmed = text.trimEnd();
  return EXACT_WORDS.has(trimmed) || WORDS.has(trimmed.toLowerCase());
}

function isMarkedNothing(text: string): boolean {
  if (text.length <= MARKED_LENGTH_MAX && MARKED_WORDS.has(text.toLowerCase())) return true;
  return OBJECTS.test(text) || isNameOf(text) || isWord(text);
}

/** Also if the name was percent-encoded twice on its way. */
function isNameOf(text: string): boolean {
  const isName = FORMS.some((form) => form.test(text)) && !HEXADECIMAL.test(text);
  if (isName || !text.startsWith("%")) return isName;
  const decoded = decodedOnce(text);
  return decoded !== text && isNameOf(decoded);
}

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign of its own: the text was not encoded.
    return text;
  }
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.charAt(0);
  const isQuoted =
    (first === '"' || first === "'") && trimmed.length > 2 && trimmed.endsWith(first);
  return isQuoted ? trimmed.slice(1, -1) : trimmed;
}

function beginnings(given: { readonly marks: string; readonly letters: string }): Uint8Array {
  const table = new Uint8Array(128);
  for (const mark of given.marks) table[mark.charCodeAt(0)] = MARK;
  for (const letter of given.letters) table[letter.charCodeAt(0)] = LETTER;
  return table;
}
