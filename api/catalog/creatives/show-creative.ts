import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { LINK_MACRO } from "./creative-fields.ts";

/** The columns from which a partner's creative is built; other columns pass through. */
type Content = {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly body: string;
  readonly width: number;
  readonly height: number;
};

/**
 * Completes a creative for the partner of `link`: replaces the macro and adds markup for an image (G54). The link is inserted as it
 * is, because its characters need no escaping in a URL or in markup.
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

/** An unknown size (0) is left out, so the browser uses the image's own. */
function imageMarkup({ name, url, width, height }: Content, link: string): string {
  const size = [width === 0 ? "" : ` width="${width}"`, height === 0 ? "" : ` height="${height}"`];
  const image = `<img src="${escapeMarkup(url)}"${size.join("")} alt="${escapeMarkup(name)}" border="0">`;
  return `<a href="${escapeMarkup(link)}">${image}</a>`;
}
