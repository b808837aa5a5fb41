import type { ReactElement } from "react";
import type { FormBody } from "./form-field.ts";
import { type FormProps, NestedForm } from "./nested-form.tsx";

export type { FormBody, FormField } from "./form-field.ts";

/** A form whose fields are all texts, numbers and lists of texts. */
export const RecordForm: (props: FormProps<FormBody>) => ReactElement = NestedForm;
