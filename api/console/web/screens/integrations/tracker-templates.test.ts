import { expect, test } from "vitest";
import { PARTNER_POSTBACK_MACROS } from "../../../../../schemas/macros/macro-names.ts";
import { TRACKER_TEMPLATES } from "./tracker-templates.ts";

const KNOWN: readonly string[] = PARTNER_POSTBACK_MACROS;

test.each(TRACKER_TEMPLATES)(
  "the address for $name has only macros that a partner may use, and the click of its tracker (#39)",
  ({ address }) => {
    const macros = [...address.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
    expect(macros.filter((name) => !KNOWN.includes(name))).toEqual([]);
    expect(macros).toContain("sub1");
    expect(URL.canParse(address)).toBe(true);
  },
);
