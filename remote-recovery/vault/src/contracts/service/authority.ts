import {
  buildBatch,
  buildChange,
  buildImageRecord,
  buildJwe,
  buildLabel,
  buildSecret,
  buildSlot,
  buildStatement,
  confirmChange,
  createSigner,
  signTicket,
  type Signer,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import { KeyringChange, type Json, type TicketSignature } from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import {
  dayMs,
  expectRefusal,
  putChange,
  randomB64u,
  readAccountState,
  signInWithSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

type ChangeMember = Exclude<
  keyof KeyringChange,
  "v" | "user_id" | "key_epoch" | "state_rev" | "state" | "sig" | "author_sig"
>;

const buildDocument = (signer: Signer, typ: string): string => buildJwe({ typ, user_id: signer.userId, key_epoch: 1 });

/**
 * Every optional member of a change, with whether metadata keys alone may send it: a new member
 * does not compile, and is refused, until it stands here.
 */
const members: Readonly<
  Record<ChangeMember, { readonly byMetadataKeys: boolean; readonly build: (signer: Signer, id: string) => Json }>
> = {
  shares: { byMetadataKeys: true, build: (signer) => buildDocument(signer, "relicario-shares") },
  requests: { byMetadataKeys: true, build: (signer) => buildDocument(signer, "relicario-requests") },
  book: { byMetadataKeys: false, build: (signer) => buildDocument(signer, "relicario-book") },
  slots: {
    byMetadataKeys: false,
    build: () => ({ set: [buildSlot(newId(Date.now()), "recovery_code")], remove: [] }),
  },
  key_statement: { byMetadataKeys: false, build: (signer) => buildStatement(signer) },
  image_records: {
    byMetadataKeys: false,
    build: (signer) => ({ set: [buildImageRecord(signer.imageId)], remove: [] }),
  },
  purge: { byMetadataKeys: false, build: (_signer, id) => [id] },
  purge_versions: { byMetadataKeys: false, build: (_signer, id) => [{ secret_db_id: id, versions: [1] }] },
  stage_id: { byMetadataKeys: false, build: () => newId(Date.now()) },
  stage_sha256: { byMetadataKeys: false, build: () => randomB64u(32) },
  trash_confirm: { byMetadataKeys: false, build: (_signer, id) => [id] },
};

const withoutAuthor = { author_sig: undefined } as const;

/**
 * A person whose request was answered would need an upload: an unanswered one is revoked instead.
 */
export function describeAuthority(service: () => ServiceUnderTest): void {
  const signIn = async (): Promise<{ account: Account; id: string }> => {
    const { account, firstSecret } = await signInWithSecret(service());
    return { account, id: firstSecret.id };
  };
  const expectUnchanged = async (account: Account, call: (signer: Signer) => Promise<unknown>): Promise<void> => {
    const stateBefore = await readAccountState(account);
    await expectRefusal(call(account.signer), "keyring_change_invalid");
    expect(await readAccountState(account)).toEqual(stateBefore);
  };

  describe("metadata keys alone", () => {
    it("know every member of a change", () => {
      const required = ["v", "user_id", "key_epoch", "state_rev", "state", "sig", "author_sig"];
      expect(Object.keys(members).toSorted()).toEqual(
        Object.keys(KeyringChange.shape)
          .filter((name) => !required.includes(name))
          .toSorted(),
      );
    });

    it.each(Object.entries(members).filter(([, { byMetadataKeys }]) => byMetadataKeys))(
      "change %s",
      async (name, { build }) => {
        const { account, id } = await signIn();
        await putChange(account, buildChange(account.signer, { [name]: build(account.signer, id), ...withoutAuthor }));
      },
    );

    it.each(Object.entries(members).filter(([, { byMetadataKeys }]) => !byMetadataKeys))(
      "cannot change %s",
      async (name, { build }) => {
        const { account, id } = await signIn();
        await account.calls.trash(id);
        await expectUnchanged(account, (signer) =>
          account.calls.changeKeyring(buildChange(signer, { [name]: build(signer, id), ...withoutAuthor })),
        );
      },
    );

    it("rename, and cannot store a ticket with the new name", async () => {
      const { account, id } = await signIn();
      const { signer, calls } = account;
      const ticket = randomB64u(1_900);
      const label = buildLabel(signer, id, 1, 2);
      const buildRow = (overrides: Partial<TicketSignature>) => ({
        ...{ secret_db_id: id, base_version: 1, label, ticket },
        ticket_sig: signTicket(signer, { secretId: id, version: 1, ticket }, overrides),
        keyring: buildChange(signer, withoutAuthor),
      });
      await expectUnchanged(account, () =>
        calls.store({
          ...buildRow({}),
          ticket_sig: signTicket({ ...signer, authorKey: signer.signingKey }, { secretId: id, version: 1, ticket }),
        }),
      );
      for (const wrongFacts of [
        { secret_id: newId(Date.now()) },
        { user_id: newId(Date.now()) },
        { version: 2 },
        { share_id: randomB64u(16) },
        { ticket_sha256: randomB64u(32) },
        { content_sha256: randomB64u(32) },
      ])
        await expectUnchanged(account, () => calls.store(buildRow(wrongFacts)));
      const rename = { secret_db_id: id, base_version: 1, label, keyring: buildChange(signer, withoutAuthor) };
      await calls.store(rename);
      confirmChange(signer, rename.keyring);
      expect((await calls.getSecret(id, null)).label).toBe(label);
      // a ticket that the author key signed needs nothing else: an upload ends under lock
      const authored = buildRow({});
      await calls.store(authored);
      confirmChange(signer, authored.keyring);
      expect((await calls.getSecret(id, null)).ticket).toBe(ticket);
    });

    it("cannot store a secret, a version or a batch", async () => {
      const { account, id } = await signIn();
      const { calls } = account;
      const forge = (signer: Signer): Signer => ({ ...signer, authorKey: signer.signingKey });
      await expectUnchanged(account, (signer) =>
        calls.store(buildSecret(forge(signer), { change: withoutAuthor }).body),
      );
      await expectUnchanged(account, (signer) =>
        calls.store(buildSecret(forge(signer), { id, base: 1, change: withoutAuthor }).body),
      );
      await expectUnchanged(account, (signer) => calls.storeBatch(buildBatch(forge(signer), 2, withoutAuthor)));
    });

    it("cannot share, nor lengthen a share, and can shorten it", async () => {
      const { account, id } = await signIn();
      const { signer, calls } = account;
      await expectUnchanged(account, (person) =>
        calls.shares.create(
          buildShare({ ...person, authorKey: person.signingKey }, id, { change: withoutAuthor }).body,
        ),
      );
      const share = buildShare(signer, id, { max_views: 3 });
      await calls.shares.create(share.body);
      confirmChange(signer, share.body.keyring);
      const change = (overrides: { readonly expires_at?: string; readonly max_views?: number | null }) => {
        const shares = buildJwe({ typ: "relicario-shares", user_id: signer.userId, key_epoch: 1 });
        return { ...overrides, keyring: buildChange(signer, { shares, ...withoutAuthor }) };
      };
      const fromExpiry = (days: number): string =>
        new Date(Date.parse(share.body.expires_at) + days * dayMs).toISOString();
      for (const longer of [{ expires_at: fromExpiry(1) }, { max_views: 4 }, { max_views: null }])
        await expectUnchanged(account, () => calls.shares.change(share.shareId, change(longer)));
      const shorter = change({ expires_at: fromExpiry(-1), max_views: 2 });
      await calls.shares.change(share.shareId, shorter);
      confirmChange(signer, shorter.keyring);
      expect(await calls.shares.listOfSecret(id)).toMatchObject([{ expires_at: fromExpiry(-1), max_views: 2 }]);
    });

    it("revoke a request that nobody answered", async () => {
      const { account } = await signIn();
      const { signer, calls } = account;
      const request = buildRequest(signer);
      await calls.requests.create(request.body);
      confirmChange(signer, request.body.keyring);
      const requests = buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 1 });
      await calls.requests.drop(request.requestId, buildChange(signer, { requests, ...withoutAuthor }));
      expect(await calls.requests.list()).toMatchObject([{ state: "revoked" }]);
    });

    it("begin no account", async () => {
      const account = await service().signIn();
      await expectRefusal(
        account.calls.store(buildSecret(account.signer, { change: withoutAuthor }).body),
        "keyring_change_invalid",
      );
      const other = createSigner(account.signer.userId);
      await expectRefusal(
        account.calls.store(buildSecret(account.signer, { change: { key_statement: buildStatement(other) } }).body),
        "keyring_change_invalid",
      );
      expect(await account.calls.getKeyring(null)).toBeNull();
    });
  });
}
