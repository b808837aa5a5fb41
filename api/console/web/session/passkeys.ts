import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from "@simplewebauthn/browser";
import { type Api, read } from "../client/api-client.ts";

/** `second_factor`: a code is still missing. */
export type SignedInState = "full" | "second_factor";

/** Asks the browser for a passkey and signs in with it. */
export async function signInWithPasskey(api: Api): Promise<SignedInState> {
  const { data: asked } = await read(api.POST("/sign-in/passkey/options"));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API answers what the library's other half made for this call
  const optionsJSON = asked.options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const response = await inWords(startAuthentication({ optionsJSON }));
  const body = { challenge_id: asked.challenge_id, response: { ...response } };
  const { data } = await read(api.POST("/sign-in/passkey", { body }));
  return data.state;
}

/** Lets the browser make a passkey and keeps its public half. */
export async function addPasskey(api: Api, name: string): Promise<void> {
  const { data: asked } = await read(api.POST("/person/passkeys/options"));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const optionsJSON = asked.options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const response = await inWords(startRegistration({ optionsJSON }));
  const body = { challenge_id: asked.challenge_id, name, response: { ...response } };
  await read(api.POST("/person/passkeys", { body }));
}

/** Browsers do not tell a page why there is no passkey. */
async function inWords<Response>(asked: Promise<Response>): Promise<Response> {
  try {
    return await asked;
  } catch (error) {
    if (
      error instanceof WebAuthnError &&
      error.code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED"
    )
      throw new Error("This device already has a passkey of yours.", { cause: error });
    if (error instanceof Error && error.name === "NotAllowedError")
      throw new Error(
        "The browser gave no passkey: it was cancelled, took too long, or there is none.",
        {
          cause: error,
        },
      );
    throw error;
  }
}

/** Where passkeys work instead, if the page was opened by the address of this machine. An address is no name that a passkey can belong to. */
export function namedAddress({
  hostname,
  port,
}: Pick<Location, "hostname" | "port">): string | undefined {
  if (hostname !== "127.0.0.1" && hostname !== "[::1]") return undefined;
  return `http://localhost${port === "" ? "" : `:${port}`}/console/`;
}
