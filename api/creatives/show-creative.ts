import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { LINK_MACRO } from "./creative-fields.ts";

/** What a partner's creative is made from; other columns pass through. */
type Content = {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly body: string;
  readonly width: number;
  readonly height: number;
};

/**
 * A creative ready to be used by the partner of `link`: the macro replaced, and markup for an image (G54).
 * The link is put in as it is: what it is made of needs no escaping in a URL, and none in markup.
 */
export function creativeOfPartner<Creative extends Content>(
  creative: Creative,
  link: string,
): Creative & { readonly tracking_link: string; readonly html?: string } {
  const filled = {
    ...creative,
    url: creative.url.replaceAll(LINK_MACRO, () => link),
    body: creative.body.replaceAll(LINK_MACRO, () => link),
    tracking_link: link,
  };
  return filled.kind === "image" ? { ...filled, html: imageMarkup(filled, link) } : filled;
}

/** A size that is not known (0) is left out: the browser takes the image's own. */
function imageMarkup({ name, url, width, height }: Content, link: string): string {
  const size = [width === 0 ? "" : ` width="${width}"`, height === 0 ? "" : ` height="${height}"`];
  const image = `<img src="${escapeMarkup(url)}"${size.join("")} alt="${escapeMarkup(name)}" border="0">`;
  return `<a href="${escapeMarkup(link)}">${image}</a>`;
}
