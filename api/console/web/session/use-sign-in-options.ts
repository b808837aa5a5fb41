import { useQuery } from "@tanstack/react-query";
import type { paths } from "../../../../.build/console/openapi.ts";
import { type Api, read } from "../client/api-client.ts";

type SignInOptions =
  paths["/sign-in/options"]["get"]["responses"]["200"]["content"]["application/json"]["data"];

/** The ways to sign in at this address; undefined until they are known. */
export function useSignInOptions(api: Api): SignInOptions | undefined {
  const options = useQuery({
    queryKey: ["sign-in-options"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await read(api.GET("/sign-in/options", { signal }))).data,
  });
  return options.data;
}

/** Whether this address and this browser have passkeys. */
export function usePasskeysHere(api: Api): boolean {
  return useSignInOptions(api)?.passkey === true && "PublicKeyCredential" in globalThis;
}
