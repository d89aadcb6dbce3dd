import {
  buildBatch,
  buildChange,
  buildLabel,
  buildSecret,
  confirmChange,
  signTicket,
} from "@relicario/api/testing/person";
import { maxSmallSealedBytes, SecretPage, type StoredSecret as Row } from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import {
  readAllPages,
  expectRefusal,
  randomB64u,
  computeDigestOfB64u,
  putChange,
  signInWithSecret,
  readAccountState,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

const listRows = ({ http }: Account, query: Record<string, string | number> = {}): Promise<Row[]> =>
  readAllPages(async (cursor) => {
    const page = await http.request("GET", "/secrets/store", SecretPage, {
      query: { ...query, ...(cursor === null ? {} : { cursor }) },
    });
    return { rows: page.secrets, next: page.next_cursor };
  });
const getFirstPage = ({ calls }: Account): Promise<SecretPage> => calls.getListPage({ cursor: null, since: null });
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ secret_db_id: id }) => id);
const makeUnknownId = (): string => newId(Date.now());

export function describeSecrets(service: () => ServiceUnderTest): void {
  describe("storing a secret", () => {
    it("publishes content, label and ticket with the change", async () => {
      const account = await service().signIn();
      const { calls, signer } = account;
      const { body } = buildSecret(signer);
      expect(await calls.store(body)).toEqual({ secret_db_id: body.secret_db_id, version: 1, state_rev: 1 });
      const { label, ticket, content } = body;
      const expectedVersion = {
        version: 1,
        ticket_sha256: computeDigestOfB64u(ticket),
        size: 700,
        created_at: expect.any(String) as string,
        dropped: false,
      };
      expect(await calls.getSecret(body.secret_db_id, null)).toEqual({
        version: 1,
        ticket,
        content,
        label,
        versions: [expectedVersion],
      });
      expect(await calls.getVersions(body.secret_db_id)).toEqual([expectedVersion]);
      const page = await getFirstPage(account);
      expect(page).toMatchObject({ total: 1, next_cursor: null, state_rev: 1 });
      expect(page.secrets).toEqual([
        {
          secret_db_id: body.secret_db_id,
          version: 1,
          favorite: false,
          label,
          size: 700,
          created_at: expect.any(String) as string,
          updated_at: expect.any(String) as string,
        },
      ]);
    });

    it("returns the same response to a repeated call, and refuses its change with another ticket", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const stateAfter = await readAccountState(account);
      expect(await account.calls.store(firstSecret.body)).toEqual({
        secret_db_id: firstSecret.id,
        version: 1,
        state_rev: 1,
      });
      await expectRefusal(account.calls.store({ ...firstSecret.body, ticket: randomB64u(2_000) }), "state_conflict");
      expect(await readAccountState(account)).toEqual(stateAfter);
    });

    it("reports a conflict of the secret before a stale state", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      const staleChange = { state_rev: 7 };
      const stateBefore = await readAccountState(account);
      await expectRefusal(
        calls.store(buildSecret(signer, { id: firstSecret.id, change: staleChange }).body),
        "id_taken",
      );
      await expectRefusal(
        calls.store(buildSecret(signer, { id: firstSecret.id, base: 2, change: staleChange }).body),
        "version_conflict",
      );
      await expectRefusal(
        calls.store(buildSecret(signer, { id: makeUnknownId(), base: 1, change: staleChange }).body),
        "not_found",
      );
      await expectRefusal(calls.store(buildSecret(signer, { change: staleChange }).body), "state_conflict");
      expect(await readAccountState(account)).toEqual(stateBefore);
    });

    it("refuses a label of another secret, version, account or epoch, and a change that purges the stored secret", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      const stateBefore = await readAccountState(account);
      const { body } = buildSecret(signer, { id: firstSecret.id, base: 1 });
      const labels = [
        buildLabel(signer, makeUnknownId(), 2),
        buildLabel(signer, firstSecret.id, 1),
        buildLabel({ ...signer, userId: makeUnknownId() }, firstSecret.id, 2),
        buildLabel(signer, firstSecret.id, 2, 2, 2),
      ];
      for (const label of labels) await expectRefusal(calls.store({ ...body, label }), "keyring_change_invalid");
      await calls.trash(firstSecret.id);
      await expectRefusal(
        calls.store(buildSecret(signer, { id: firstSecret.id, base: 1, change: { purge: [firstSecret.id] } }).body),
        "keyring_change_invalid",
      );
      await calls.store({ secret_db_id: firstSecret.id, restore: true });
      expect(await readAccountState(account)).toMatchObject({ keyring: (stateBefore as { keyring: unknown }).keyring });
    });

    it("keeps and lists former versions", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const secondVersion = await storeSecret(account, { id: firstSecret.id, base: 1, bytes: 900 });
      const { calls } = account;
      expect(await calls.getSecret(firstSecret.id, null)).toMatchObject({
        version: 2,
        ticket: secondVersion.body.ticket,
        content: secondVersion.body.content,
        label: secondVersion.body.label,
      });
      expect(await calls.getSecret(firstSecret.id, 1)).toMatchObject({
        version: 1,
        ticket: firstSecret.body.ticket,
        content: firstSecret.body.content,
        label: secondVersion.body.label,
      });
      await expectRefusal(calls.getSecret(firstSecret.id, 3), "not_found");
      await expectRefusal(calls.getSecret(makeUnknownId(), null), "not_found");
      await expectRefusal(calls.getVersions(makeUnknownId()), "not_found");
      expect(await calls.getVersions(firstSecret.id)).toMatchObject([
        { version: 2, size: 900 },
        { version: 1, size: 700 },
      ]);
      expect((await getFirstPage(account)).secrets).toMatchObject([
        { version: 2, size: 900, label: secondVersion.body.label },
      ]);
    });

    it("replaces only a label, with or without a new ticket", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      const relabel = async (ticket: string | null, rev: number): Promise<string> => {
        const label = buildLabel(signer, firstSecret.id, 1, rev);
        const keyring = buildChange(signer);
        const row = { secret_db_id: firstSecret.id, base_version: 1, label, keyring };
        const signedTicket = (sealed: string) => ({
          ticket: sealed,
          ticket_sig: signTicket(signer, { secretId: firstSecret.id, version: 1, ticket: sealed }),
        });
        expect(await calls.store(ticket === null ? row : { ...row, ...signedTicket(ticket) })).toEqual({
          secret_db_id: firstSecret.id,
          version: 1,
          state_rev: keyring.state_rev,
        });
        confirmChange(signer, keyring);
        return label;
      };
      const label = await relabel(null, 2);
      expect(await calls.getSecret(firstSecret.id, null)).toMatchObject({
        label,
        ticket: firstSecret.body.ticket,
        content: firstSecret.body.content,
      });
      const ticket = randomB64u(1_900);
      const otherLabel = await relabel(ticket, 3);
      expect(await calls.getSecret(firstSecret.id, null)).toMatchObject({
        version: 1,
        label: otherLabel,
        ticket,
        content: firstSecret.body.content,
      });
      await expectRefusal(
        calls.store({ secret_db_id: firstSecret.id, base_version: 2, label, keyring: buildChange(signer) }),
        "keyring_change_invalid",
      );
      await expectRefusal(
        calls.store({
          secret_db_id: firstSecret.id,
          base_version: 2,
          label: buildLabel(signer, firstSecret.id, 2),
          keyring: buildChange(signer),
        }),
        "version_conflict",
      );
    });

    it("refuses another version while no former one is old enough to be dropped", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      for (let base = 1; base <= service().maxFormerVersions; base++)
        await storeSecret(account, { id: firstSecret.id, base });
      const buildNextBody = (): ReturnType<typeof buildSecret>["body"] =>
        buildSecret(signer, { id: firstSecret.id, base: service().maxFormerVersions + 1 }).body;
      const stateBefore = await readAccountState(account);
      await expectRefusal(calls.store(buildNextBody()), "too_many_versions");
      expect(await readAccountState(account)).toEqual(stateBefore);
      await putChange(
        account,
        buildChange(signer, { purge_versions: [{ secret_db_id: firstSecret.id, versions: [1] }] }),
      );
      expect(await calls.store(buildNextBody())).toMatchObject({ version: service().maxFormerVersions + 2 });
    });

    it("is available only to its owner", async () => {
      const { firstSecret } = await signInWithSecret(service());
      const other = await service().signIn();
      await expectRefusal(other.calls.getSecret(firstSecret.id, null), "not_found");
      await expectRefusal(other.calls.trash(firstSecret.id), "not_found");
      await expectRefusal(other.calls.setFavorite(firstSecret.id, true), "not_found");
    });
  });

  describe("storing new secrets together", () => {
    it("publishes all of them with one change, and returns the same response to a repeated call", async () => {
      const account = await service().signIn();
      const batch = buildBatch(account.signer, 4);
      expect(await account.calls.storeBatch(batch)).toEqual({ state_rev: 1 });
      confirmChange(account.signer, batch.keyring);
      const stateAfter = await readAccountState(account);
      expect(await account.calls.storeBatch(batch)).toEqual({ state_rev: 1 });
      expect(await readAccountState(account)).toEqual(stateAfter);
      expect(idsOf(await listRows(account))).toEqual(batch.secrets.map(({ secret_db_id: id }) => id).sort());
      for (const { secret_db_id: id, label, ticket, content } of batch.secrets)
        expect(await account.calls.getSecret(id, null)).toMatchObject({ version: 1, label, ticket, content });
    });

    it("stores none of them when one is refused", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      const stateBefore = await readAccountState(account);
      const batch = buildBatch(signer, 2);
      const [secret] = batch.secrets;
      if (secret === undefined) throw new TypeError("a batch needs two secrets");
      const conflicting = { ...secret, secret_db_id: firstSecret.id, label: buildLabel(signer, firstSecret.id, 1) };
      await expectRefusal(calls.storeBatch({ ...batch, secrets: [...batch.secrets, conflicting] }), "id_taken");
      await expectRefusal(
        calls.storeBatch({ ...batch, secrets: [...batch.secrets, { ...secret, secret_db_id: makeUnknownId() }] }),
        "keyring_change_invalid",
      );
      await expectRefusal(calls.storeBatch({ ...batch, secrets: [secret, secret] }), "validation_error");
      await expectRefusal(calls.storeBatch(buildBatch(signer, 1, { state_rev: 9 })), "state_conflict");
      expect(await readAccountState(account)).toEqual(stateBefore);
    });
  });

  describe("the list", () => {
    it("returns pages in the order of ids, up to the requested limit", async () => {
      const account = await service().signIn();
      const batch = buildBatch(account.signer, 5);
      await account.calls.storeBatch(batch);
      const ids = batch.secrets.map(({ secret_db_id: id }) => id).sort();
      const page = await account.http.request("GET", "/secrets/store", SecretPage, { query: { limit: 2 } });
      expect(idsOf(page.secrets)).toEqual(ids.slice(0, 2));
      expect(page).toMatchObject({ total: 5, next_cursor: ids[1] });
      expect(page).not.toHaveProperty("purged");
      expect(idsOf(await listRows(account, { limit: 2 }))).toEqual(ids);
      expect(idsOf(await listRows(account))).toEqual(ids);
    });

    it("returns the changes since a change count, and the purged ids", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const secondSecret = await storeSecret(account);
      const { calls, signer } = account;
      const listSince = async (count: number): Promise<unknown> => {
        const { secrets, purged, total } = await calls.getListPage({ cursor: null, since: count });
        return { ids: idsOf(secrets), purged, total };
      };
      const changeCounts = [(await getFirstPage(account)).changes];
      expect(await listSince(changeCounts[0] ?? 0)).toEqual({ ids: [], purged: [], total: 2 });
      const changesOfRows: (() => Promise<unknown>)[] = [
        () => calls.setFavorite(firstSecret.id, true),
        () => calls.trash(secondSecret.id),
        () => calls.store({ secret_db_id: secondSecret.id, restore: true }),
        () => storeSecret(account, { id: firstSecret.id, base: 1 }),
        () => calls.trash(firstSecret.id),
      ];
      for (const change of changesOfRows) {
        await change();
        const { changes } = await getFirstPage(account);
        expect(changes).toBeGreaterThan(changeCounts[changeCounts.length - 1] ?? 0);
        expect((await listSince(changeCounts[changeCounts.length - 1] ?? 0)) as { ids: string[] }).toMatchObject({
          ids: [expect.any(String) as string],
          purged: [],
        });
        changeCounts.push(changes);
      }
      await putChange(account, buildChange(signer, { purge: [firstSecret.id] }));
      expect(await listSince(changeCounts[changeCounts.length - 1] ?? 0)).toEqual({
        ids: [],
        purged: [firstSecret.id],
        total: 1,
      });
      expect(await listSince(changeCounts[0] ?? 0)).toEqual({
        ids: [secondSecret.id],
        purged: [firstSecret.id],
        total: 1,
      });
    });

    it("keeps the change count when nothing changes", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls } = account;
      await calls.setFavorite(firstSecret.id, true);
      await calls.trash(firstSecret.id);
      const stateAfter = await readAccountState(account);
      await calls.setFavorite(firstSecret.id, true);
      await calls.trash(firstSecret.id);
      expect(await readAccountState(account)).toEqual(stateAfter);
      const {
        secrets: [row],
      } = await getFirstPage(account);
      expect(row).toMatchObject({ favorite: true, deleted_at: expect.any(String) as string });
      await calls.store({ secret_db_id: firstSecret.id, restore: true });
      const stateRestored = await readAccountState(account);
      await calls.store({ secret_db_id: firstSecret.id, restore: true });
      expect(await readAccountState(account)).toEqual(stateRestored);
    });
  });

  describe("a star and the trash", () => {
    it("show in the returned row, and need no keyring change", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls } = account;
      expect(await calls.setFavorite(firstSecret.id, true)).toMatchObject({
        secret_db_id: firstSecret.id,
        favorite: true,
      });
      expect(await calls.setFavorite(firstSecret.id, false)).toMatchObject({ favorite: false });
      await calls.trash(firstSecret.id);
      expect((await getFirstPage(account)).secrets).toMatchObject([{ deleted_at: expect.any(String) as string }]);
      expect(await calls.store({ secret_db_id: firstSecret.id, restore: true })).toEqual({
        secret_db_id: firstSecret.id,
        version: 1,
        state_rev: 1,
      });
      expect((await getFirstPage(account)).secrets[0]).not.toHaveProperty("deleted_at");
      await expectRefusal(calls.store({ secret_db_id: makeUnknownId(), restore: true }), "not_found");
      await expectRefusal(calls.setFavorite(makeUnknownId(), true), "not_found");
      await expectRefusal(calls.trash(makeUnknownId()), "not_found");
    });

    it("leave a trashed secret open to a new version, which restores the secret", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      await account.calls.trash(firstSecret.id);
      await storeSecret(account, { id: firstSecret.id, base: 1 });
      expect((await getFirstPage(account)).secrets[0]).not.toHaveProperty("deleted_at");
    });

    it("precede a purge, after which the id stays taken", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      await expectRefusal(
        calls.changeKeyring(buildChange(signer, { purge: [firstSecret.id] })),
        "keyring_change_invalid",
      );
      await calls.trash(firstSecret.id);
      await putChange(account, buildChange(signer, { purge: [firstSecret.id] }));
      expect(await getFirstPage(account)).toMatchObject({ secrets: [], total: 0 });
      await expectRefusal(calls.getSecret(firstSecret.id, null), "not_found");
      await expectRefusal(calls.store(buildSecret(signer, { id: firstSecret.id }).body), "id_taken");
    });
  });

  describe("a former version", () => {
    it("is removed by a change but stays listed; the current version is never removed", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { calls, signer } = account;
      await storeSecret(account, { id: firstSecret.id, base: 1 });
      const buildRemoval = (versions: number[]) =>
        buildChange(signer, { purge_versions: [{ secret_db_id: firstSecret.id, versions }] });
      for (const versions of [[2], [1, 2], [3]])
        await expectRefusal(calls.changeKeyring(buildRemoval(versions)), "keyring_change_invalid");
      expect(await calls.getSecret(firstSecret.id, 1)).toMatchObject({ version: 1 });
      await putChange(account, buildRemoval([1]));
      await expectRefusal(calls.getSecret(firstSecret.id, 1), "content_gone");
      await expectRefusal(calls.content.range({ secretId: firstSecret.id, version: 1 }, 0, 9), "content_gone");
      expect(await calls.getVersions(firstSecret.id)).toMatchObject([
        { version: 2, dropped: false },
        { version: 1, dropped: true, ticket_sha256: computeDigestOfB64u(firstSecret.body.ticket), size: 700 },
      ]);
      await putChange(account, buildRemoval([1])); // already removed
    });
  });

  describe("a sealed content", () => {
    it("is read in ranges", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const content = Buffer.from(firstSecret.body.content, "base64url");
      const { range } = account.calls.content;
      const location = { secretId: firstSecret.id, version: 1 };
      for (const [start, end] of [
        [0, 700],
        [0, 1],
        [699, 700],
        [100, 250],
        [600, 9_000],
      ] as const) {
        const { bytes, size } = await range(location, start, end);
        expect(size).toBe(700);
        expect(Buffer.from(bytes)).toEqual(content.subarray(start, end));
      }
      await expectRefusal(range(location, 700, 701), "range_not_satisfiable");
      await expectRefusal(range({ secretId: firstSecret.id, version: 2 }, 0, 1), "not_found");
      await expectRefusal(range({ secretId: makeUnknownId(), version: 1 }, 0, 1), "not_found");
    });

    it("is read whole without a range, and in the current version without a number", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { totalSize, offset, body } = await account.http.stream("POST", "/v2/secrets/get-secret", {
        body: { secret_db_id: firstSecret.id },
      });
      expect({ totalSize, offset }).toEqual({ totalSize: 700, offset: 0 });
      expect(Buffer.from(await new Response(body).arrayBuffer()).toString("base64url")).toBe(firstSecret.body.content);
      await expectRefusal(
        (await service().signIn()).calls.content.range({ secretId: firstSecret.id, version: 1 }, 0, 1),
        "not_found",
      );
      await expectRefusal(
        service().visitor.stream("POST", "/v2/secrets/get-secret", { body: { secret_db_id: firstSecret.id } }),
        "unauthorized",
      );
    });

    it("is limited in size when stored in one call", async () => {
      const account = await service().signIn();
      const largest = await storeSecret(account, { bytes: maxSmallSealedBytes });
      expect((await account.calls.getSecret(largest.id, null)).content).toBe(largest.body.content);
      await expectRefusal(
        account.calls.store(buildSecret(account.signer, { bytes: maxSmallSealedBytes + 1 }).body),
        "validation_error",
      );
    });
  });
}
