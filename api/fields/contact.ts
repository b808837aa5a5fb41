import { country, email, orEmpty, text } from "./body-fields.ts";
import { textField } from "./field.ts";

/** How the people of an account are reached. */
export const CONTACT = {
  company: textField(text(), { form: { part: "contact", label: "Company" } }),
  contact_name: textField(text(), { form: { part: "contact", label: "Contact" } }),
  email: textField(orEmpty(email), { form: { part: "contact", label: "E-mail" } }),
  phone: textField(text(), { form: { part: "contact", label: "Phone" } }),
  website: textField(text(), { form: { part: "contact", label: "Website" } }),
};

export const COUNTRY = textField(orEmpty(country));
