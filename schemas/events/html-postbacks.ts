import { z } from "zod";

/** Whoever is about to answer an iframe pixel asks for what the page is to carry, once. */
export const HtmlPostbacksRequest = z.object({ conversionId: z.uuid() });
export type HtmlPostbacksRequest = z.infer<typeof HtmlPostbacksRequest>;

/** HTML of partners with macros expanded. Each document gets a frame of its own, so that it cannot read the others. */
export const HtmlPostbacks = z.object({ documents: z.array(z.string()) });
export type HtmlPostbacks = z.infer<typeof HtmlPostbacks>;
