import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { ApiError } from "../operation/errors.ts";
import { type PasskeySite, passkeySiteAt } from "./passkey-site.ts";
import type { VisitorContext } from "./people-context.ts";

const BASE64URL = /^[A-Za-z0-9_-]*={0,2}$/;
const BYTES_MAX = 65_536;

const encoded = z
  .string("expected base64url")
  .max(BYTES_MAX, "is too long")
  .regex(BASE64URL, "expected base64url");

/** Both kinds of answers of the browser; the library reads the rest. */
function credentialOf(response: z.ZodRawShape): z.ZodObject {
  return z.looseObject(
    {
      id: encoded,
      rawId: encoded,
      type: z.literal("public-key"),
      response: z.looseObject({ clientDataJSON: encoded, ...response }, "expected an object"),
      clientExtensionResults: z.looseObject({}).optional(),
    },
    "expected the answer of the browser",
  );
}

const EXAMPLE = { id: "AA", rawId: "AA", type: "public-key", clientExtensionResults: {} };
const description = "The answer of the browser, as `toJSON()` of the credential";

/** What `navigator.credentials.create` answers. */
export const attestation: z.ZodType<RegistrationResponseJSON> = z
  .custom<RegistrationResponseJSON>(
    (given) => credentialOf({ attestationObject: encoded }).safeParse(given).success,
    "expected the answer of the browser",
  )
  .meta({
    type: "object",
    additionalProperties: true,
    description,
    examples: [{ ...EXAMPLE, response: { clientDataJSON: "e30", attestationObject: "oA" } }],
  });

/** What `navigator.credentials.get` answers. */
export const assertion: z.ZodType<AuthenticationResponseJSON> = z
  .custom<AuthenticationResponseJSON>(
    (given) =>
      credentialOf({ authenticatorData: encoded, signature: encoded }).safeParse(given).success,
    "expected the answer of the browser",
  )
  .meta({
    type: "object",
    additionalProperties: true,
    description,
    examples: [
      {
        ...EXAMPLE,
        response: { clientDataJSON: "e30", authenticatorData: "AA", signature: "AA" },
      },
    ],
  });

/** What is kept until the browser answers. `personId` is 0 for anyone who signs in. */
export const PasskeyChallenge = z.object({ challenge: z.string(), personId: z.int() });
export const CHALLENGE_MINUTES = 5;

export const challengeId = z
  .uuid("expected an id of a challenge")
  .meta({ description: "`challenge_id` of the options" });

export const ChallengeAnswer = z
  .strictObject({
    challenge_id: z.guid().meta({ description: "Sent back with the answer of the browser" }),
    options: z.looseObject({}).meta({
      description: "For the `publicKey` of `navigator.credentials`, in its JSON form",
    }),
  })
  .meta({ id: "PasskeyChallenge" });

/** @throws {ApiError} `conflict` where there can be no passkeys. */
export function siteOfRequest({ people, settings }: VisitorContext): PasskeySite {
  const site = passkeySiteAt(people.host, settings.apiUrl);
  if (site !== undefined) return site;
  throw new ApiError("conflict", "passkeys need https and a host name; on this machine, localhost");
}

export function transportsIn({ response }: RegistrationResponseJSON): string[] {
  return z.array(z.string().max(20)).max(10).catch([]).parse(response.transports);
}
