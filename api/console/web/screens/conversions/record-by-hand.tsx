import { type ReactElement, useState } from "react";
import { mayRepeat } from "../../client/api-client.ts";
import { formatMoney } from "../../format/money.ts";
import { reasonWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useUnsaved } from "../../parts/unsaved.ts";
import { type FormBody, RecordForm } from "../../records/record-form.tsx";
import {
  findSource,
  generatedOrder,
  type Judged,
  judge,
  recordSale,
  type Sale,
  type Source,
} from "./by-hand.ts";
import { detailFields, SOURCE_FIELDS } from "./by-hand-fields.ts";

type Checked = { readonly sale: Sale; readonly judged: Judged };

/** Records a conversion that no postback has reported: first where it comes from, then what was sold, then what the service would make of it. */
export function RecordByHand({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}): ReactElement {
  const [source, setSource] = useState<Source>();
  const [asked, setAsked] = useState<FormBody>({});
  const [sale, setSale] = useState<Sale>();
  const [checked, setChecked] = useState<Checked>();
  return (
    <Drawer title="Record a conversion" onClose={onClose}>
      {source === undefined && <FromWhere asked={asked} onAsked={setAsked} onFound={setSource} />}
      {source !== undefined && (
        <Facts
          facts={[
            ["Offer", source.offer.name],
            ["Partner", source.partner.name],
            ["Click", source.clickId],
          ]}
        />
      )}
      {source !== undefined && checked === undefined && (
        <WhatWasSold
          source={source}
          sale={sale}
          onChecked={(next) => {
            setSale(next.sale);
            setChecked(next);
          }}
          onBack={() => setSource(undefined)}
        />
      )}
      {source !== undefined && checked !== undefined && (
        <WhatWouldHappen
          source={source}
          checked={checked}
          onBack={() => setChecked(undefined)}
          onMade={onMade}
        />
      )}
    </Drawer>
  );
}

function FromWhere({
  asked,
  onAsked,
  onFound,
}: {
  readonly asked: FormBody;
  readonly onAsked: (asked: FormBody) => void;
  readonly onFound: (source: Source) => void;
}): ReactElement {
  const { api } = useMembership();
  return (
    <RecordForm
      fields={SOURCE_FIELDS}
      initial={asked}
      submit="Continue"
      onSubmit={async (body) => {
        const all = { ...asked, ...body };
        const source = await findSource(api, {
          clickId: String(all["click_id"] ?? "").trim(),
          offerId: Number(all["offer_id"] ?? 0),
          partnerId: Number(all["affiliate_id"] ?? 0),
        });
        onAsked(all);
        onFound(source);
      }}
    />
  );
}

function WhatWasSold({
  source,
  sale,
  onChecked,
  onBack,
}: {
  readonly source: Source;
  readonly sale: Sale | undefined;
  readonly onChecked: (checked: Checked) => void;
  readonly onBack: () => void;
}): ReactElement {
  const { api } = useMembership();
  const [order] = useState(generatedOrder);
  const { events, currency } = source.offer;
  const initial = sale ?? {
    event: events[0]?.code ?? "",
    adv_txid: "",
    sale_amount: "",
    currency,
    notes: "",
  };
  return (
    <RecordForm
      fields={detailFields(events)}
      initial={initial}
      submit="Check"
      onSubmit={async (body) => {
        const typed = { ...initial, ...body };
        const next = {
          ...typed,
          adv_txid: typed.adv_txid.trim() || order,
          sale_amount: typed.sale_amount.trim(),
          currency: typed.currency.trim().toUpperCase(),
        };
        onChecked({ sale: next, judged: await judge(api, source, next) });
      }}
      onCancel={onBack}
    />
  );
}

function WhatWouldHappen({
  source,
  checked: { sale, judged },
  onBack,
  onMade,
}: {
  readonly source: Source;
  readonly checked: Checked;
  readonly onBack: () => void;
  readonly onMade: (id: string) => void;
}): ReactElement {
  const { api } = useMembership();
  const [isRepeated, setRepeated] = useState(false);
  const record = useWrite(["conversions"], async () => {
    try {
      onMade(await recordSale(api, source, sale, isRepeated));
    } catch (error) {
      if (mayRepeat(error)) setRepeated(true);
      throw error;
    }
  });
  useUnsaved(!record.isSuccess, record.isPending);
  const money = (text: string): string => (text === "" ? "" : formatMoney(text, judged.currency));
  const isRefused = judged.error !== "" || judged.isUpdate;
  return (
    <>
      <Facts
        facts={[
          ["Event", sale.event],
          ["Order ID", sale.adv_txid],
          ["Sale", sale.sale_amount === "" ? "" : formatMoney(sale.sale_amount, sale.currency)],
          ["Note", sale.notes],
          [
            "Would be",
            judged.status === "" ? "" : <StatusBadge key="status" status={judged.status} />,
          ],
          ["Reason", reasonWords(judged.reason)],
          ["Payout", money(judged.payout)],
          ["Revenue", money(judged.revenue)],
        ]}
      />
      {isRefused && (
        <div className="notice warn" role="status">
          {judged.isUpdate
            ? "This order is recorded already. Nothing would be recorded."
            : `It would be refused: ${judged.error}`}
        </div>
      )}
      {judged.isDuplicate && (
        <div className="notice warn" role="status">
          It would count as a duplicate, which stays rejected.
        </div>
      )}
      {record.isError && (
        <ProblemNotice
          error={record.error}
          advice={
            isRepeated
              ? "It may be recorded. Press Record again: it is recorded only once."
              : undefined
          }
        />
      )}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={record.isPending || isRefused}
          onClick={() => record.mutate()}
        >
          Record
        </button>
        <button type="button" className="button" disabled={record.isPending} onClick={onBack}>
          Change
        </button>
      </div>
    </>
  );
}
