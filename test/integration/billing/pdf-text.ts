import { inflateSync } from "node:zlib";

/** The text of a PDF in the order in which it is drawn, by the tables of characters that its fonts carry. One line for each piece of text. */
export function pdfText(pdf: Buffer): string {
  const objects = objectsOf(pdf);
  const lines: string[] = [];
  for (const { head } of objects.values()) {
    if (!/\/Type \/Page\b/.test(head)) continue;
    const content = objects.get(referenceIn(head, "Contents"))?.stream ?? "";
    const resources = objects.get(referenceIn(head, "Resources"))?.head ?? head;
    lines.push(...drawnText(content, (font) => characters(objects, referenceIn(resources, font))));
  }
  return lines.join("\n");
}

type PdfObject = { readonly head: string; readonly stream: string };

function objectsOf(pdf: Buffer): Map<number, PdfObject> {
  const text = pdf.toString("latin1");
  const found = new Map<number, PdfObject>();
  for (const { 1: number, 2: body = "" } of text.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const [head = "", raw] = body.split(/stream\n/, 2);
    const bytes = Buffer.from((raw ?? "").replace(/\nendstream$/, ""), "latin1");
    const stream = head.includes("/FlateDecode") && bytes.length > 0 ? inflateSync(bytes) : bytes;
    found.set(Number(number), { head, stream: stream.toString("latin1") });
  }
  return found;
}

function referenceIn(head: string, name: string): number {
  return Number(new RegExp(`/${name} (\\d+) 0 R`).exec(head)?.[1] ?? 0);
}

/** Number of a glyph to its characters. */
function characters(objects: Map<number, PdfObject>, font: number): string[] {
  const table = objects.get(referenceIn(objects.get(font)?.head ?? "", "ToUnicode"))?.stream ?? "";
  const found: string[] = [];
  for (const { 1: from = "0", 2: list = "" } of table.matchAll(/<(\w+)> <\w+> \[([^\]]*)\]/g)) {
    for (const [index, { 1: hex = "" }] of [...list.matchAll(/<([^>]*)>/g)].entries())
      found[Number.parseInt(from, 16) + index] = Buffer.from(hex, "hex")
        .swap16()
        .toString("utf16le");
  }
  return found;
}

function drawnText(content: string, charactersOf: (font: string) => string[]): string[] {
  let glyphs: string[] = [];
  const lines: string[] = [];
  for (const [, font, array] of content.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
    if (font !== undefined) glyphs = charactersOf(font);
    if (array === undefined) continue;
    const hex = [...array.matchAll(/<([0-9a-f]*)>/g)].map(([, digits = ""]) => digits).join("");
    lines.push(
      (hex.match(/.{4}/g) ?? []).map((glyph) => glyphs[Number.parseInt(glyph, 16)] ?? "").join(""),
    );
  }
  return lines;
}
