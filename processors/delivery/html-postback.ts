import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { encodeValue, expandTemplate } from "../../schemas/macros/expand.ts";
import { parseTemplate } from "../../schemas/macros/template.ts";
import { postbackMacros, type Told } from "./postback-request.ts";
import type { PostbackSource } from "./postbacks.ts";

/**
 * What a page is to carry for a partner: the postback's body, or an image of its URL when it has none. Values come from anybody
 * (a sub id is a parameter of a link) and stand in whatever place the partner chose, so each is percent-encoded as in a URL, down
 * to letters, digits and `-_.~`: it ends no text, attribute or string and begins no tag, scheme or call, wherever it stands.
 */
export function htmlPostback(delivery: Told, source: PostbackSource): string {
  const { macros, valueOf } = postbackMacros(delivery, source);
  const expand = (text: string): string =>
    expandTemplate(parseTemplate(text, macros), (macro) => encodeStrictly(valueOf(macro)));
  if (source.body.trim() !== "") return expand(source.body);
  return `<img src="${escapeMarkup(expand(source.url))}" width="1" height="1" alt="">`;
}

/** The encoding of a URL leaves quotes and parentheses as they are. */
function encodeStrictly(value: string): string {
  return encodeValue(value).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
