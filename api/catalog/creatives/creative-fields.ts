import { z } from "zod";
import {
  count,
  longText,
  name,
  oneOf,
  orEmpty,
  shownTime,
  targetUrl,
} from "../../fields/body-fields.ts";
import { field, textField } from "../../fields/field.ts";

/** What a creative is (G54). */
export const CREATIVE_KINDS = ["image", "html", "text", "link", "email"] as const;
const CREATIVE_STATUSES = ["active", "inactive"] as const;

/** Replaced with the link of the partner who reads the creative. */
export const LINK_MACRO = "{tracking_link}";

const PIXELS_MAX = 100_000;
const pixels = field(count({ min: 0, max: PIXELS_MAX }), {
  shown: z.int().meta({ description: "Pixels, 0 when unknown" }),
  unset: 0,
});

/** A URL that may contain `{tracking_link}`. */
const creativeUrl = z
  .string("expected text")
  .refine(
    (url) => targetUrl.safeParse(url.replaceAll(LINK_MACRO, "https://link.example")).success,
    `expected an absolute http or https URL, or one with ${LINK_MACRO}`,
  );

export const creativeFields = {
  name: field(name(), { shown: z.string(), required: true }),
  kind: field(oneOf(...CREATIVE_KINDS), { shown: z.enum(CREATIVE_KINDS), unset: "image" }),
  url: textField(orEmpty(creativeUrl)),
  body: textField(longText()),
  width: pixels,
  height: pixels,
  status: field(oneOf(...CREATIVE_STATUSES), { shown: z.enum(CREATIVE_STATUSES), unset: "active" }),
};

export const readOnlyOfCreative = {
  id: z.int(),
  offer_id: z.int(),
  created_at: shownTime,
  updated_at: shownTime,
};

/** What answers for partners have in addition. */
export const shownToPartners = {
  tracking_link: z.string().meta({ description: "Partner keys only: their link to the offer" }),
  html: z
    .string()
    .meta({ description: "Partner keys only: markup of an image creative" })
    .optional(),
};
