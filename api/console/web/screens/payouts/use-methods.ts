import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { type Method, methodChoices, type PaymentMethod } from "./payout.ts";

type Methods = {
  readonly choices: readonly Choice[];
  readonly wordsOf: (method: Method) => string;
};

/** Ways to pay, with the names that the workspace gives its wallets. Who may not read these gets the usual words. */
export function useMethods(): Methods {
  const membership = useMembership();
  const { api, role } = membership;
  const { data } = useRecord<Partial<PaymentMethod["wallet_names"]>>(membership, {
    name: "wallet-names",
    id: "own",
    load: async (signal) => {
      if (role === "partner")
        return (await read(api.GET("/me/payment-method", { signal }))).data.wallet_names;
      if (!hasRight(membership, "everything")) return {};
      return (await read(api.GET("/billing-settings", { signal }))).data.wallet_names;
    },
  });
  const choices = methodChoices(data);
  return {
    choices,
    wordsOf: (method) => choices.find(([one]) => one === method)?.[1] ?? method,
  };
}
