import type { ReactElement } from "react";
import { THEMES, themeOf, useTheme } from "../look/theme.ts";
import { useMembership } from "../member/membership.ts";
import { ChoiceField } from "../parts/choice-field.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { useDensity } from "./density.ts";
import { useOwnLook } from "./use-own-look.ts";

const WORDS = { system: "System", light: "Light", dark: "Dark" } as const;

/** Theme, tables and keyboard of the person. */
export function OwnLook(): ReactElement {
  const theme = useTheme();
  const density = useDensity();
  const { session } = useMembership();
  const { save, saving, error } = useOwnLook();
  const { single_key_shortcuts: wanted } = { ...session.person.preferences, ...saving };
  const hasKeys = wanted !== false;
  return (
    <section className="panel stack narrow">
      <h2>Look and keyboard</h2>
      {error !== null && <ProblemNotice error={error} />}
      <ChoiceField
        label="Theme"
        value={theme}
        choices={THEMES.map((name) => [name, WORDS[name]] as const)}
        onChange={(value) => {
          const chosen = themeOf(value);
          if (chosen !== undefined) save({ theme: chosen });
        }}
      />
      <label className="row">
        <input
          type="checkbox"
          checked={density === "dense"}
          onChange={() => save({ table_density: density === "dense" ? "comfortable" : "dense" })}
        />
        <span>Dense rows in tables</span>
      </label>
      <label className="row">
        <input
          type="checkbox"
          checked={hasKeys}
          onChange={() => save({ single_key_shortcuts: !hasKeys })}
        />
        <span>
          Single keys, such as <kbd>/</kbd> for the filter and <kbd>?</kbd> for help
        </span>
      </label>
    </section>
  );
}
