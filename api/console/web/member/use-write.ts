import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useMembership } from "./membership.ts";

/** What waits and what is left of caps changes with records of every kind. */
export const summaryNames = ["attention", "cap-usage"];

/**
 * A write. Then the lists and records of these names are read again, also after a failure, because a part may have been done. A success is
 * told when they show it, a failure at once.
 */
export function useWrite<Input, Result>(
  names: readonly string[],
  write: (input: Input) => Promise<Result>,
): UseMutationResult<Result, Error, Input> {
  const { membershipId } = useMembership();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: write,
    onSettled: async (_result, fault) => {
      const readAgain = async (ofNames: readonly string[]): Promise<void> => {
        await Promise.all(
          ofNames.map((name) => queries.invalidateQueries({ queryKey: [membershipId, name] })),
        );
      };
      void readAgain(summaryNames);
      const read = readAgain(names);
      if (fault === null) await read;
    },
  });
}

/** A write of money: while it is on its way, a further press sends nothing. The button is disabled only from the next drawing on. */
export function useWriteOnce<Input, Result>(
  names: readonly string[],
  write: (input: Input) => Promise<Result>,
): UseMutationResult<Result, Error, Input> {
  const isSent = useRef(false);
  const result = useWrite(names, async (input: Input) => {
    try {
      return await write(input);
    } finally {
      isSent.current = false;
    }
  });
  const { mutate } = result;
  const once: typeof mutate = (...asked) => {
    if (isSent.current) return;
    isSent.current = true;
    mutate(...asked);
  };
  return { ...result, mutate: once };
}
