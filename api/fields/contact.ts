import { z } from "zod";
import { country, email, orEmpty, text } from "./body-fields.ts";
import { field } from "./field.ts";

/** How the people of an account are reached. */
export const CONTACT = {
  company: field(text(), {
    shown: z.string(),
    unset: "",
    form: { part: "contact", label: "Company" },
  }),
  contact_name: field(text(), {
    shown: z.string(),
    unset: "",
    form: { part: "contact", label: "Contact" },
  }),
  email: field(orEmpty(email), {
    shown: z.string(),
    unset: "",
    form: { part: "contact", label: "E-mail" },
  }),
  phone: field(text(), { shown: z.string(), unset: "", form: { part: "contact", label: "Phone" } }),
  website: field(text(), {
    shown: z.string(),
    unset: "",
    form: { part: "contact", label: "Website" },
  }),
};

export const COUNTRY = field(orEmpty(country), { shown: z.string(), unset: "" });
