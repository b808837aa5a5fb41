import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useMembership } from "../session/membership.ts";

/** A write. When it has succeeded, the lists and records of these names are read again. */
export function useWrite<Input, Result>(
  names: readonly string[],
  write: (input: Input) => Promise<Result>,
): UseMutationResult<Result, Error, Input> {
  const { membershipId } = useMembership();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: write,
    onSuccess: async () => {
      await Promise.all(
        names.map((name) => queries.invalidateQueries({ queryKey: [membershipId, name] })),
      );
    },
  });
}
