import type { Deployment } from "@relicario/shared/contract";
import type { User } from "oidc-client-ts";
import { z } from "zod";

import type { NavigatorEvents, SignInClient } from "./sign-in-client.ts";

/** What oidc-client-ts keeps of a person in session storage, as far as a page needs it before that library is here. */
const Kept = z.object({
  access_token: z.string(),
  id_token: z.string().optional(),
  expires_at: z.number().optional(),
  profile: z.looseObject({
    iss: z.string(),
    sub: z.string(),
    preferred_username: z.string().optional(),
    nickname: z.string().optional(),
    name: z.string().optional(),
    email: z.string().optional(),
  }),
});

/** A person whom this tab remembers. `expires_in`: seconds. */
export type KeptUser = Omit<z.infer<typeof Kept>, "expires_at"> & { readonly expires_in: number | undefined };

export interface SignInLaterParts extends NavigatorEvents {
  readonly identity: Deployment["identity"];
  readonly origin: string;
  readonly storage: Storage;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly userLoaded: (user: User) => void;
  readonly userUnloaded: () => void;
  /** The provider's session ended. */
  readonly userSignedOut: () => void;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * The sign-in client, whose library is fetched when it has something to do: a page that remembers its person shows Home
 * without it. Once it is here it looks after the provider's session by itself.
 */
export interface SignInLater {
  /** Who is remembered; null when nobody is, or not any more. */
  readonly user: () => KeptUser | null;
  /** Forgets the person, also while the library is not here. */
  readonly removeUser: () => Promise<void>;
  /** The client; the same one each time. Rejects when its code cannot be fetched, and then asking again fetches anew. */
  readonly client: () => Promise<SignInClient>;
  /** The client if it is here. Windows can be opened only while a click is fresh, which a wait would spoil. */
  readonly present: () => SignInClient | null;
}

export function createSignInLater(parts: SignInLaterParts): SignInLater {
  const { identity, origin, storage, now } = parts;
  const key = `oidc.user:${identity.authority}:${identity.client_id}`;
  let present: SignInClient | null = null;
  let coming: Promise<SignInClient> | null = null;

  const fetchClient = async (): Promise<SignInClient> => {
    const { SignInClient, signInSettings } = await import("./sign-in-library.ts");
    const client = new SignInClient(signInSettings(identity, origin, storage), parts);
    client.events.addUserLoaded(parts.userLoaded);
    client.events.addUserUnloaded(parts.userUnloaded);
    client.events.addUserSignedOut(parts.userSignedOut);
    client.clearStaleState().catch((error: unknown) => {
      parts.log("stale_state", error);
    });
    present = client;
    return client;
  };

  return Object.freeze<SignInLater>({
    user: () => {
      try {
        const { expires_at: end, ...user } = Kept.parse(JSON.parse(storage.getItem(key) ?? "null"));
        const left = end === undefined ? undefined : end - Math.floor(now() / 1000);
        return left !== undefined && left <= 0 ? null : { ...user, expires_in: left };
      } catch {
        return null; // nothing is kept, or nothing that means somebody: they sign in
      }
    },
    removeUser: async () => {
      await present?.removeUser();
      storage.removeItem(key);
    },
    client: () => {
      coming ??= fetchClient().catch((error: unknown) => {
        coming = null;
        throw error;
      });
      return coming;
    },
    present: () => present,
  });
}
