import type { ReactElement } from "react";
import { GuideLink } from "../../parts/guide-link.tsx";

const PARAMETERS: readonly (readonly [name: string, meaning: string])[] = [
  ["token", "Proves that the call is yours. Keep it on your server."],
  ["click_id", "The ID that your landing page received with the visitor: 32 characters."],
  ["event", "Which event happened. Leave it out for the default event."],
  ["txid", "Your order number. It recognises repeats, and changes the order later."],
  ["amount", "Amount of the sale, such as 49.90. Needed where the payout is a percentage."],
  ["currency", "Currency of the amount, such as EUR."],
  [
    "status",
    "approved, pending or rejected. Send rejected with the same txid to take a sale back. Leave it out to let the offer decide.",
  ],
];

/** What the parts of a postback's address mean. */
export function ParameterTable(): ReactElement {
  return (
    <div className="stack tight">
      <h3>What the parameters mean</h3>
      <dl className="facts">
        {PARAMETERS.map(([name, meaning]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div className="row wrap">
        <GuideLink href="/docs/postback">All parameters and answers</GuideLink>
      </div>
    </div>
  );
}
