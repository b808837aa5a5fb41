import { type ClickhouseStatements, clickhouseStatements } from "./clickhouse-statements.ts";
import { type PostgresStatements, postgresStatements } from "./postgres-statements.ts";

/** A table of facts in ClickHouse and the records of Postgres that it copies, with the statements that compare them. */
export type FactTable = {
  readonly name: ClickhouseStatements["table"];
  /** Decimal columns, which have the same name in both stores. */
  readonly money: readonly string[];
  readonly postgres: PostgresStatements;
  readonly clickhouse: ClickhouseStatements;
};

const MS_OF = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`;
const WALL_TIME = "(date + coalesce(hour, 0) * interval '1 hour')";

const CONVERSION_MONEY = ["revenue", "payout", "sale_amount"] as const;
const CONVERSION_FACTS: FactTable = {
  name: "conversion_fact",
  money: CONVERSION_MONEY,
  postgres: postgresStatements({
    money: CONVERSION_MONEY,
    table: "conversion",
    outbox: { table: "conversion_fact_outbox", column: "conversion_id" },
    idType: "uuid",
    atMs: MS_OF("conv_ts"),
    firstMs: MS_OF("min(conv_ts)"),
    lastMs: MS_OF("max(conv_ts)"),
    inSpan:
      "conv_ts >= $2::timestamp at time zone 'UTC' and conv_ts < $3::timestamp at time zone 'UTC'",
    content: `concat_ws('|', id, version, ${MS_OF("conv_ts")}, coalesce(click_id, ''), offer_id, coalesce(affiliate_id, 0),
      advertiser_id, coalesce(smart_link_id, 0), event_code, is_private::integer, status, status_reason, is_duplicate::integer,
      revenue, payout, sale_amount, currency, method)`,
    offerId: "offer_id",
  }),
  clickhouse: clickhouseStatements({
    table: "conversion_fact",
    money: CONVERSION_MONEY,
    atMs: "toUnixTimestamp64Milli(conv_ts)",
    inSpan:
      "conv_ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') and conv_ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')",
    content: `concatWithSeparator('|', toString(id), toString(version), toString(toUnixTimestamp64Milli(conv_ts)), click_id,
      toString(offer_id), toString(affiliate_id), toString(advertiser_id), toString(smart_link_id), event_code,
      toString(toUInt8(is_private)), status, status_reason, toString(toUInt8(is_duplicate)), toDecimalString(revenue, 4),
      toDecimalString(payout, 4), toDecimalString(sale_amount, 4), currency, method)`,
    offerId: "offer_id",
    key: "(offer_id, conv_ts, id)",
    keyOfParameter: "(toUInt32(offer), fromUnixTimestamp64Milli(at_ms, 'UTC'), toUUID(id_text))",
  }),
};

const AD_COST_MONEY = ["amount"] as const;
const AD_COST_FACTS: FactTable = {
  name: "ad_cost_fact",
  money: AD_COST_MONEY,
  postgres: postgresStatements({
    money: AD_COST_MONEY,
    table: "ad_cost",
    outbox: { table: "ad_cost_fact_outbox", column: "ad_cost_id" },
    idType: "bigint",
    atMs: MS_OF(WALL_TIME),
    firstMs: MS_OF("min(date)"),
    lastMs: `${MS_OF("max(date)")} + 86399000`,
    inSpan: `date between $2::timestamp::date and $3::timestamp::date
      and ${WALL_TIME} >= $2::timestamp and ${WALL_TIME} < $3::timestamp`,
    content: `concat_ws('|', id, version, ${MS_OF(WALL_TIME)}, coalesce(offer_id, 0), coalesce(affiliate_id, 0),
      coalesce(advertiser_id, 0), traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount)`,
    offerId: "0",
  }),
  clickhouse: clickhouseStatements({
    table: "ad_cost_fact",
    money: AD_COST_MONEY,
    atMs: "toInt64(toUnixTimestamp(wall_time)) * 1000",
    inSpan:
      "toInt64(toUnixTimestamp(wall_time)) * 1000 >= {from:Int64} and toInt64(toUnixTimestamp(wall_time)) * 1000 < {to:Int64}",
    content: `concatWithSeparator('|', toString(id), toString(version), toString(toInt64(toUnixTimestamp(wall_time)) * 1000),
      toString(offer_id), toString(affiliate_id), toString(advertiser_id), traffic_source, ext_campaign_id, ext_adgroup_id,
      currency, toDecimalString(amount, 4))`,
    offerId: "0",
    key: "(wall_time, id)",
    keyOfParameter: "(toDateTime(intDiv(at_ms, 1000), 'UTC'), toUInt64(id_text))",
  }),
};

export const FACT_TABLES: readonly FactTable[] = [CONVERSION_FACTS, AD_COST_FACTS];
