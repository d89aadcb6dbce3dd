import type { CDPSession, Page } from "@playwright/test";

export interface Passkeys {
  readonly count: () => Promise<number>;
  /** Takes them away. */
  readonly deleteAll: () => Promise<void>;
}

/** A passkey provider of the device itself, with PRF unless told otherwise. */
export async function addVirtualPasskeys(
  page: Page,
  { prf = true }: { readonly prf?: boolean } = {},
): Promise<Passkeys> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf: prf,
    },
  });
  return {
    count: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length,
    deleteAll: async () => {
      await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    },
  };
}
