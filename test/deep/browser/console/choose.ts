import type { Locator, Page } from "playwright-core";

/** Chooses in a combobox by typing a part of the name. */
export async function choose(
  scope: Page | Locator,
  label: string,
  { sought, name = sought }: { readonly sought: string; readonly name?: string },
): Promise<void> {
  const input = scope.getByRole("combobox", { name: label, exact: true }).last();
  await input.click();
  await input.fill(sought);
  await optionsOf(scope, label).filter({ hasText: name }).first().click();
}

export function optionsOf(scope: Page | Locator, label: string): Locator {
  return scope.getByRole("listbox", { name: label, exact: true }).getByRole("option");
}

/** Chooses the first of a list, whatever it is. */
export async function chooseFirst(scope: Page | Locator, label: string): Promise<void> {
  const input = scope.getByRole("combobox", { name: label, exact: true }).last();
  await input.click();
  await optionsOf(scope, label).first().click();
}
