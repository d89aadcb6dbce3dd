import { randomBytes } from "node:crypto";

import type { APIRequestContext } from "@playwright/test";
import { defaultVendorId } from "@relicario/tooling/portal";
import { z } from "zod";

const SignedDocument = z.object({ payload: z.string() });
const Deployment = z.object({ identity: z.object({ authority: z.string(), client_id: z.string() }) });

/**
 * Sends the identity provider's form without showing it; the portal then signs in by the provider's
 * session.
 *
 * @param request of a browser without the recording proxy, which takes only requests that the
 *   browser makes itself
 * @throws Error when the provider refuses the form
 */
export async function sendProviderForm(
  request: APIRequestContext,
  kind: "sign-in" | "sign-up",
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const document = await request.get(`/deployments/${defaultVendorId}`);
  const { payload } = SignedDocument.parse(await document.json());
  const { identity } = Deployment.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
  const parameters = new URLSearchParams({
    client_id: identity.client_id,
    redirect_uri: new URL("/", document.url()).href,
    response_type: "code",
    scope: "openid",
    code_challenge: randomBytes(32).toString("base64url"), // the code is not redeemed
    code_challenge_method: "S256",
  });
  const formUrl = (await request.get(`${identity.authority}/auth?${parameters.toString()}`)).url();
  const response = await request.post(kind === "sign-in" ? formUrl : `${formUrl}/sign-up`, { form: { ...fields } });
  if (!new URL(response.url()).searchParams.has("code"))
    throw new Error(`the provider answers ${String(response.status())} to the form for ${kind}`);
}
