import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { encodeValue, expandTemplate } from "../../schemas/macros/expand.ts";
import { parseTemplate } from "../../schemas/macros/template.ts";
import { postbackMacros, type QueuedPostback } from "./postback-request.ts";
import type { PostbackSource } from "./postbacks.ts";

/**
 * The HTML that a page carries for a partner: the postback's body, or an image of its URL if it has no body. A visitor can put anything
 * into a value (a sub id is a parameter of a link), and the partner can put the macro anywhere. So each value is percent-encoded down
 * to letters, digits and `-_.~`: it cannot end a text, attribute or string, nor begin a tag, scheme or call.
 */
export function htmlPostback(delivery: QueuedPostback, source: PostbackSource): string {
  const { macros, valueOf } = postbackMacros(delivery, source);
  const expand = (text: string): string =>
    expandTemplate(parseTemplate(text, macros), (macro) => encodeStrictly(valueOf(macro)));
  if (source.body.trim() !== "") return expand(source.body);
  return `<img src="${escapeMarkup(expand(source.url))}" width="1" height="1" alt="">`;
}

/** The usual encoding of URLs keeps quotes and parentheses. */
function encodeStrictly(value: string): string {
  return encodeValue(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
