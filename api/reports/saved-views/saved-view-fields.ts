import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { name, shownTime, text } from "../../fields/body-fields.ts";

const PATH_MAX = 200;
/** Longer addresses do not pass every proxy. */
const QUERY_MAX = 6_000;

export type SavedViewRow = {
  id: number;
  name: string;
  path: string;
  query: string;
  is_shared: boolean;
  is_own: boolean;
  created_at: string;
  updated_at: string;
};

const fields = {
  name: name(),
  path: text(PATH_MAX).regex(
    /^\/[a-z][a-z/-]*$/,
    "expected the path of a screen, such as /reports",
  ),
  query: text(QUERY_MAX).refine((value) => !/[\s#?]/.test(value), "expected encoded parameters"),
  is_shared: z.boolean("expected true or false"),
};

export const CreateBody = z.strictObject({
  ...fields,
  query: fields.query.optional(),
  is_shared: fields.is_shared.optional(),
});

export const UpdateBody = z.strictObject(fields).partial();
export type SavedViewChange = z.output<typeof UpdateBody>;

export const ShownSavedView = shownSchema("saved_view", {
  id: z.int(),
  name: z.string(),
  path: z.string(),
  query: z.string(),
  is_shared: z.boolean(),
  is_own: z.boolean(),
  created_at: shownTime,
  updated_at: shownTime,
}).meta({ id: "SavedView" });
