import type { ReferenceGroup } from "./reference-group.ts";

/** What is owed to partners and by advertisers, and what was paid. */
export const MONEY_GROUP: ReferenceGroup = {
  title: "Money",
  resources: [
    {
      page: "billing-settings",
      title: "Billing settings",
      about: "Switches billing on, and says what stands on documents.",
      paths: ["/billing-settings"],
    },
    {
      page: "balances",
      title: "Balances",
      about: "What is owed to partners and by advertisers, and how each figure came about.",
      paths: ["/balances", "/ledger", "/billing"],
    },
    {
      page: "adjustments",
      title: "Adjustments",
      about: "Corrections by hand. They are reversed, never changed.",
      paths: ["/adjustments"],
    },
    {
      page: "payment-methods",
      title: "Payment methods",
      about: "How a partner is paid: method, details and tax.",
      paths: ["/me/payment-method", "/affiliates/{id}/payment-method"],
    },
    {
      page: "payout-runs",
      title: "Payout runs",
      about: "Payments to partners: who is due, approval, and what the bank did.",
      paths: ["/payout-runs", "/payout-lines", "/me/payouts"],
    },
    {
      page: "statements",
      title: "Statements",
      about: "What partners are owed for a period, and the documents of it.",
      paths: ["/statements", "/me/statements"],
    },
    {
      page: "files",
      title: "Kept files",
      about: "Documents as they were made.",
      paths: ["/files"],
    },
    {
      page: "invoices",
      title: "Invoices",
      about:
        "What advertisers owe, by period: drafts, invoices and credit notes, and how they are taxed.",
      paths: ["/invoices", "/me/invoices", "/advertisers/{id}/tax"],
    },
    {
      page: "payments",
      title: "Payments of advertisers",
      about: "What advertisers paid, and which invoices it covers.",
      paths: ["/payments"],
    },
  ],
};
