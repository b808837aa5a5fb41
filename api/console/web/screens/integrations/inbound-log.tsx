import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { plainText } from "../../format/plain-text.ts";
import { formatInstant } from "../../format/time.ts";
import { statusWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RangeBar } from "../../range/range-bar.tsx";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { rangeQuery } from "../../records/record-range.ts";
import { messageWords, RESULT_CHOICES, resultWords } from "./inbound-words.ts";
import { ResultBars } from "./result-bars.tsx";

type Call = components["schemas"]["PostbackLogEntry"];

const FILTERS: readonly ListFilter[] = [
  { name: "result", label: "Result", choices: RESULT_CHOICES },
  { name: "click_id", label: "Click ID" },
  { name: "conversion_id", label: "Conversion ID" },
];

/** Calls of advertisers and pages, as they came in. An advertiser sees its own calls, without partners. */
export function InboundLog(): ReactElement {
  const membership = useMembership();
  const { api, zone, role } = membership;
  const [search, change] = useAddress();
  // Not in the address, because the parameters of a call may say who the visitor is.
  const [open, setOpen] = useState<Call | undefined>();
  const columns: readonly Column<Call>[] = [
    { name: "at", title: "Time", opens: true, cell: ({ ts }) => formatInstant(ts, zone) },
    { name: "endpoint", title: "Endpoint", cell: ({ endpoint }) => `/${endpoint}` },
    { name: "result", title: "Result", cell: ({ result }) => resultWords(result) },
    { name: "status", title: "HTTP", isNumber: true, cell: (row) => row.http_status },
    {
      name: "message",
      title: "Message",
      cell: ({ message }) => <StrangerText text={messageWords(message)} />,
    },
    { name: "click", title: "Click", cell: (row) => <code>{row.click_id}</code> },
  ];
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Incoming postbacks</h1>
        <GuideLink href="/docs/postback">About results</GuideLink>
        <RangeBar />
      </div>
      {role !== "advertiser" && <ResultBars search={search} onChange={change} />}
      <RecordList<Call>
        title="Incoming postbacks"
        isTitled={false}
        name="inbound-log"
        filters={FILTERS}
        fixed={rangeQuery(search)}
        load={async (query, signal) => {
          const params = { params: { query: fromAddress(query) }, signal };
          return role === "advertiser"
            ? await read(api.GET("/me/postback-log", params))
            : await read(api.GET("/postback-log", params));
        }}
        columns={columns}
        keyOf={({ id }) => String(id)}
        onOpen={setOpen}
        nothing={<strong>No calls in this range</strong>}
      />
      {open !== undefined && <CallDrawer call={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function CallDrawer({
  call,
  onClose,
}: {
  readonly call: Call;
  readonly onClose: () => void;
}): ReactElement {
  const { zone } = useMembership();
  return (
    <Drawer title="Incoming postback" onClose={onClose}>
      <Facts
        facts={[
          ["Time", formatInstant(call.ts, zone)],
          ["Path", `/${call.endpoint}`],
          ["Result", resultWords(call.result)],
          ["Message", messageWords(call.message)],
          ["HTTP status", String(call.http_status)],
          ["IP address", call.ip],
          ["Token of", statusWords(call.token_owner)],
          ["Click ID", call.click_id],
          ["Conversion ID", call.conversion_id],
          ["Request ID", call.request_id],
          ["Number in the log", String(call.id)],
        ]}
      />
      <h3>Parameters</h3>
      <Facts facts={sentParams(call)} />
    </Drawer>
  );
}

/** Parameters keep the names that the sender gave them. */
function sentParams({ params }: Call): readonly Fact[] {
  return Object.entries(params).map(
    ([name, value]): Fact => [name, value === null ? "" : plainText(value)],
  );
}
