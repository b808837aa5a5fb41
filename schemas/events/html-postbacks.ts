import { z } from "zod";

/** Whoever is about to answer an iframe pixel asks for what the page is to carry, once. */
export const HtmlPostbacksWanted = z.object({ conversionId: z.uuid() });
export type HtmlPostbacksWanted = z.infer<typeof HtmlPostbacksWanted>;

/** HTML of partners, with its macros expanded; each for a document of its own, out of reach of the others. */
export const HtmlPostbacks = z.object({ documents: z.array(z.string()) });
export type HtmlPostbacks = z.infer<typeof HtmlPostbacks>;
