import type { ReactElement } from "react";
import type { Choice } from "../client/choices.ts";
import { formatSum } from "../format/money.ts";
import { formatInstant } from "../format/time.ts";
import { useOwnLook } from "../look/use-own-look.ts";
import { useMembership } from "../member/membership.ts";
import { ChoiceField } from "../parts/choice-field.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";

/** Languages with a region decide how dates, numbers and money are written. */
const LOCALES = [
  ...["en-US", "en-GB", "en-IN", "de-DE", "de-AT", "de-CH", "fr-FR", "es-ES", "es-MX", "it-IT"],
  ...["nl-NL", "pl-PL", "pt-BR", "pt-PT", "cs-CZ", "sv-SE", "da-DK", "fi-FI", "nb-NO", "tr-TR"],
  ...["uk-UA", "ru-RU", "ja-JP", "ko-KR", "zh-CN"],
];
const SAMPLE = { amount: "1234.5000", instant: "2026-11-28T20:30:00.000Z" };

/** Time zone and language of the person, in all of its browsers. */
export function OwnFormats(): ReactElement {
  const { session, zone, currency } = useMembership();
  const { save, saving, error } = useOwnLook();
  const { locale, timezone } = { ...session.person.preferences, ...saving };
  return (
    <section className="panel stack narrow">
      <h2>Time zone and formats</h2>
      {error !== null && <ProblemNotice error={error} />}
      <ChoiceField
        label="Time zone"
        value={timezone ?? ""}
        choices={zoneChoices(zone, timezone ?? "")}
        onChange={(value) => save({ timezone: value === "" ? null : value })}
      />
      <ChoiceField
        label="Dates and numbers"
        value={locale ?? ""}
        choices={localeChoices(locale ?? "")}
        onChange={(value) => save({ locale: value === "" ? null : value })}
      />
      <p className="muted">
        Looks like {formatInstant(SAMPLE.instant, zone)} and {formatSum(SAMPLE.amount, currency)}.
        Days of reports and caps stay in the time zone of the workspace ({zone}).
      </p>
    </section>
  );
}

function zoneChoices(workspace: string, own: string): readonly Choice[] {
  return [
    ["", `Of the workspace (${workspace})`],
    ...withOwn(["UTC", ...Intl.supportedValuesOf("timeZone")], own).map(
      (name): Choice => [name, name.replaceAll("_", " ")],
    ),
  ];
}

function localeChoices(own: string): readonly Choice[] {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return [
    ["", "Of the browser"],
    ...withOwn(LOCALES, own).map((locale): Choice => [locale, nameOf(names, locale)]),
  ];
}

/** A choice that came from elsewhere is shown, too. */
function withOwn(names: readonly string[], own: string): readonly string[] {
  const all = new Set(names);
  if (own !== "") all.add(own);
  return [...all];
}

function nameOf(names: Intl.DisplayNames, locale: string): string {
  try {
    return names.of(locale) ?? locale;
  } catch {
    // A program may have stored any text.
    return locale;
  }
}
