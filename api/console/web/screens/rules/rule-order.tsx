import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { allPages } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { swapped } from "../../records/swapped.ts";

type ConversionRule = components["schemas"]["ConversionRule"];

/** Between two positions, so that a rule can be put between two others by hand. */
const GAP = 10;

/** The order in which conversion rules are tried. Paused rules keep their place. */
export function RuleOrder({ onClose }: { readonly onClose: () => void }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const all = useRecord(membership, {
    name: "conversion-rules",
    id: "order",
    load: async (signal) =>
      await allPages(
        async (query) => await read(api.GET("/conversion-rules", { params: { query }, signal })),
      ),
  });
  const [moved, setMoved] = useState<readonly ConversionRule[] | undefined>();
  const rules = moved ?? (all.data ?? []).toSorted(byPosition);
  const save = useWrite(["conversion-rules", "conversion-rules-one"], async () => {
    for (const [index, { id, position }] of rules.entries()) {
      const body = { position: index * GAP };
      if (position !== body.position)
        await read(api.PATCH("/conversion-rules/{id}", { params: { path: { id } }, body }));
    }
    onClose();
  });
  return (
    <Drawer title="Order of the rules" onClose={onClose}>
      <p className="muted">The first rule that applies to a conversion decides.</p>
      {all.isError && <ProblemNotice error={all.error} />}
      <ol className="plain-list">
        {rules.map((rule, index) => (
          <li key={rule.id} className="row">
            <span className="grow">
              {index + 1}. <StrangerText text={rule.name} />
            </span>
            <StatusBadge status={rule.status} />
            <RowButton
              label={`Move ${rule.name} up`}
              icon={ArrowUp}
              isOff={index === 0}
              onPress={() => setMoved(swapped(rules, index, index - 1))}
            />
            <RowButton
              label={`Move ${rule.name} down`}
              icon={ArrowDown}
              isOff={index === rules.length - 1}
              onPress={() => setMoved(swapped(rules, index, index + 1))}
            />
          </li>
        ))}
      </ol>
      {save.isError && <ProblemNotice error={save.error} />}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={moved === undefined || save.isPending}
          onClick={() => save.mutate(undefined)}
        >
          Save the order
        </button>
      </div>
    </Drawer>
  );
}

/** As the processors try them: by position, then by ID. */
function byPosition(one: ConversionRule, other: ConversionRule): number {
  return one.position - other.position || one.id - other.id;
}
