import { buildBatch, buildChange, buildLabel, buildSecret, confirmChange } from "@relicario/api/testing/person";
import { maxSmallSealedBytes, SecretPage, type StoredSecret as Row } from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import {
  allPages,
  expectRefusal,
  randomB64u,
  digestOfB64u,
  putChange,
  signInWithSecret,
  stateOf,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

const rowsOf = ({ http }: Account, query: Record<string, string | number> = {}): Promise<Row[]> =>
  allPages(async (cursor) => {
    const page = await http.request("GET", "/secrets/store", SecretPage, {
      query: { ...query, ...(cursor === null ? {} : { cursor }) },
    });
    return { rows: page.secrets, next: page.next_cursor };
  });
const firstPage = ({ calls }: Account): Promise<SecretPage> => calls.getListPage({ cursor: null, since: null });
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
      const expectedLine = {
        version: 1,
        ticket_sha256: digestOfB64u(ticket),
        size: 700,
        created_at: expect.any(String) as string,
        dropped: false,
      };
      expect(await calls.getSecret(body.secret_db_id, null)).toEqual({
        version: 1,
        ticket,
        content,
        label,
        versions: [expectedLine],
      });
      expect(await calls.getVersions(body.secret_db_id)).toEqual([expectedLine]);
      const page = await firstPage(account);
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

    it("answers the same call as the first time, and refuses its change with another content", async () => {
      const { account, first } = await signInWithSecret(service());
      const after = await stateOf(account);
      expect(await account.calls.store(first.body)).toEqual({ secret_db_id: first.id, version: 1, state_rev: 1 });
      await expectRefusal(account.calls.store({ ...first.body, ticket: randomB64u(2_000) }), "state_conflict");
      expect(await stateOf(account)).toEqual(after);
    });

    it("says what stands in its way before it says that the state is another", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      const stale = { state_rev: 7 };
      const before = await stateOf(account);
      await expectRefusal(calls.store(buildSecret(signer, { id: first.id, change: stale }).body), "id_taken");
      await expectRefusal(
        calls.store(buildSecret(signer, { id: first.id, base: 2, change: stale }).body),
        "version_conflict",
      );
      await expectRefusal(
        calls.store(buildSecret(signer, { id: makeUnknownId(), base: 1, change: stale }).body),
        "not_found",
      );
      await expectRefusal(calls.store(buildSecret(signer, { change: stale }).body), "state_conflict");
      expect(await stateOf(account)).toEqual(before);
    });

    it("refuses a label of another secret, version, account or epoch, and a change that purges what it comes with", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      const before = await stateOf(account);
      const { body } = buildSecret(signer, { id: first.id, base: 1 });
      const labels = [
        buildLabel(signer, makeUnknownId(), 2),
        buildLabel(signer, first.id, 1),
        buildLabel({ ...signer, userId: makeUnknownId() }, first.id, 2),
        buildLabel(signer, first.id, 2, 2, 2),
      ];
      for (const label of labels) await expectRefusal(calls.store({ ...body, label }), "keyring_change_invalid");
      await calls.trash(first.id);
      await expectRefusal(
        calls.store(buildSecret(signer, { id: first.id, base: 1, change: { purge: [first.id] } }).body),
        "keyring_change_invalid",
      );
      await calls.store({ secret_db_id: first.id, restore: true });
      expect(await stateOf(account)).toMatchObject({ keyring: (before as { keyring: unknown }).keyring });
    });

    it("keeps the versions before it, each with its line", async () => {
      const { account, first } = await signInWithSecret(service());
      const second = await storeSecret(account, { id: first.id, base: 1, bytes: 900 });
      const { calls } = account;
      expect(await calls.getSecret(first.id, null)).toMatchObject({
        version: 2,
        ticket: second.body.ticket,
        content: second.body.content,
        label: second.body.label,
      });
      expect(await calls.getSecret(first.id, 1)).toMatchObject({
        version: 1,
        ticket: first.body.ticket,
        content: first.body.content,
        label: second.body.label,
      });
      await expectRefusal(calls.getSecret(first.id, 3), "not_found");
      await expectRefusal(calls.getSecret(makeUnknownId(), null), "not_found");
      await expectRefusal(calls.getVersions(makeUnknownId()), "not_found");
      expect(await calls.getVersions(first.id)).toMatchObject([
        { version: 2, size: 900 },
        { version: 1, size: 700 },
      ]);
      expect((await firstPage(account)).secrets).toMatchObject([{ version: 2, size: 900, label: second.body.label }]);
    });

    it("replaces a label alone, with its ticket or without", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      const relabel = async (changes: { readonly ticket?: string }, rev: number): Promise<string> => {
        const label = buildLabel(signer, first.id, 1, rev);
        const keyring = buildChange(signer);
        expect(await calls.store({ secret_db_id: first.id, base_version: 1, label, keyring, ...changes })).toEqual({
          secret_db_id: first.id,
          version: 1,
          state_rev: keyring.state_rev,
        });
        confirmChange(signer, keyring);
        return label;
      };
      const label = await relabel({}, 2);
      expect(await calls.getSecret(first.id, null)).toMatchObject({
        label,
        ticket: first.body.ticket,
        content: first.body.content,
      });
      const ticket = randomB64u(1_900);
      const other = await relabel({ ticket }, 3);
      expect(await calls.getSecret(first.id, null)).toMatchObject({
        version: 1,
        label: other,
        ticket,
        content: first.body.content,
      });
      await expectRefusal(
        calls.store({ secret_db_id: first.id, base_version: 2, label, keyring: buildChange(signer) }),
        "keyring_change_invalid",
      );
      await expectRefusal(
        calls.store({
          secret_db_id: first.id,
          base_version: 2,
          label: buildLabel(signer, first.id, 2),
          keyring: buildChange(signer),
        }),
        "version_conflict",
      );
    });

    it("refuses one more version while no former one is old enough to give way", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      for (let base = 1; base <= service().formerVersions; base++) await storeSecret(account, { id: first.id, base });
      const next = (): ReturnType<typeof buildSecret>["body"] =>
        buildSecret(signer, { id: first.id, base: service().formerVersions + 1 }).body;
      const before = await stateOf(account);
      await expectRefusal(calls.store(next()), "too_many_versions");
      expect(await stateOf(account)).toEqual(before);
      await putChange(account, buildChange(signer, { purge_versions: [{ secret_db_id: first.id, versions: [1] }] }));
      expect(await calls.store(next())).toMatchObject({ version: service().formerVersions + 2 });
    });

    it("is its owner's alone", async () => {
      const { first } = await signInWithSecret(service());
      const other = await service().signIn();
      await expectRefusal(other.calls.getSecret(first.id, null), "not_found");
      await expectRefusal(other.calls.trash(first.id), "not_found");
      await expectRefusal(other.calls.setFavorite(first.id, true), "not_found");
    });
  });

  describe("storing new secrets together", () => {
    it("publishes all of them with one change, and answers the same call as the first time", async () => {
      const account = await service().signIn();
      const batch = buildBatch(account.signer, 4);
      expect(await account.calls.storeBatch(batch)).toEqual({ state_rev: 1 });
      confirmChange(account.signer, batch.keyring);
      const after = await stateOf(account);
      expect(await account.calls.storeBatch(batch)).toEqual({ state_rev: 1 });
      expect(await stateOf(account)).toEqual(after);
      expect(idsOf(await rowsOf(account))).toEqual(batch.secrets.map(({ secret_db_id: id }) => id).sort());
      for (const { secret_db_id: id, label, ticket, content } of batch.secrets)
        expect(await account.calls.getSecret(id, null)).toMatchObject({ version: 1, label, ticket, content });
    });

    it("keeps none of them when one cannot be kept", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      const before = await stateOf(account);
      const batch = buildBatch(signer, 2);
      const [secret] = batch.secrets;
      if (secret === undefined) throw new TypeError("a batch of two");
      const conflicting = { ...secret, secret_db_id: first.id, label: buildLabel(signer, first.id, 1) };
      await expectRefusal(calls.storeBatch({ ...batch, secrets: [...batch.secrets, conflicting] }), "id_taken");
      await expectRefusal(
        calls.storeBatch({ ...batch, secrets: [...batch.secrets, { ...secret, secret_db_id: makeUnknownId() }] }),
        "keyring_change_invalid",
      );
      await expectRefusal(calls.storeBatch({ ...batch, secrets: [secret, secret] }), "validation_error");
      await expectRefusal(calls.storeBatch(buildBatch(signer, 1, { state_rev: 9 })), "state_conflict");
      expect(await stateOf(account)).toEqual(before);
    });
  });

  describe("the list", () => {
    it("gives pages in the order of ids, as long as asked for at most", async () => {
      const account = await service().signIn();
      const batch = buildBatch(account.signer, 5);
      await account.calls.storeBatch(batch);
      const ids = batch.secrets.map(({ secret_db_id: id }) => id).sort();
      const page = await account.http.request("GET", "/secrets/store", SecretPage, { query: { limit: 2 } });
      expect(idsOf(page.secrets)).toEqual(ids.slice(0, 2));
      expect(page).toMatchObject({ total: 5, next_cursor: ids[1] });
      expect(page).not.toHaveProperty("purged");
      expect(idsOf(await rowsOf(account, { limit: 2 }))).toEqual(ids);
      expect(idsOf(await rowsOf(account))).toEqual(ids);
    });

    it("gives what changed since a count, and what went for good", async () => {
      const { account, first } = await signInWithSecret(service());
      const second = await storeSecret(account);
      const { calls, signer } = account;
      const since = async (count: number): Promise<unknown> => {
        const { secrets, purged, total } = await calls.getListPage({ cursor: null, since: count });
        return { ids: idsOf(secrets), purged, total };
      };
      const counts = [(await firstPage(account)).changes];
      expect(await since(counts[0] ?? 0)).toEqual({ ids: [], purged: [], total: 2 });
      const changesOfRows: (() => Promise<unknown>)[] = [
        () => calls.setFavorite(first.id, true),
        () => calls.trash(second.id),
        () => calls.store({ secret_db_id: second.id, restore: true }),
        () => storeSecret(account, { id: first.id, base: 1 }),
        () => calls.trash(first.id),
      ];
      for (const change of changesOfRows) {
        await change();
        const { changes } = await firstPage(account);
        expect(changes).toBeGreaterThan(counts[counts.length - 1] ?? 0);
        expect((await since(counts[counts.length - 1] ?? 0)) as { ids: string[] }).toMatchObject({
          ids: [expect.any(String) as string],
          purged: [],
        });
        counts.push(changes);
      }
      await putChange(account, buildChange(signer, { purge: [first.id] }));
      expect(await since(counts[counts.length - 1] ?? 0)).toEqual({ ids: [], purged: [first.id], total: 1 });
      expect(await since(counts[0] ?? 0)).toEqual({ ids: [second.id], purged: [first.id], total: 1 });
    });

    it("counts nothing for what changes nothing", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls } = account;
      await calls.setFavorite(first.id, true);
      await calls.trash(first.id);
      const after = await stateOf(account);
      await calls.setFavorite(first.id, true);
      await calls.trash(first.id);
      expect(await stateOf(account)).toEqual(after);
      const {
        secrets: [row],
      } = await firstPage(account);
      expect(row).toMatchObject({ favorite: true, deleted_at: expect.any(String) as string });
      await calls.store({ secret_db_id: first.id, restore: true });
      const restored = await stateOf(account);
      await calls.store({ secret_db_id: first.id, restore: true });
      expect(await stateOf(account)).toEqual(restored);
    });
  });

  describe("a star and the trash", () => {
    it("show in the row that they answer, and need no change of the keyring", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls } = account;
      expect(await calls.setFavorite(first.id, true)).toMatchObject({ secret_db_id: first.id, favorite: true });
      expect(await calls.setFavorite(first.id, false)).toMatchObject({ favorite: false });
      await calls.trash(first.id);
      expect((await firstPage(account)).secrets).toMatchObject([{ deleted_at: expect.any(String) as string }]);
      expect(await calls.store({ secret_db_id: first.id, restore: true })).toEqual({
        secret_db_id: first.id,
        version: 1,
        state_rev: 1,
      });
      expect((await firstPage(account)).secrets[0]).not.toHaveProperty("deleted_at");
      await expectRefusal(calls.store({ secret_db_id: makeUnknownId(), restore: true }), "not_found");
      await expectRefusal(calls.setFavorite(makeUnknownId(), true), "not_found");
      await expectRefusal(calls.trash(makeUnknownId()), "not_found");
    });

    it("give back to the list what gets a new version", async () => {
      const { account, first } = await signInWithSecret(service());
      await account.calls.trash(first.id);
      await storeSecret(account, { id: first.id, base: 1 });
      expect((await firstPage(account)).secrets[0]).not.toHaveProperty("deleted_at");
    });

    it("are the way for what goes for good, whose id is taken for ever", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      await expectRefusal(calls.changeKeyring(buildChange(signer, { purge: [first.id] })), "keyring_change_invalid");
      await calls.trash(first.id);
      await putChange(account, buildChange(signer, { purge: [first.id] }));
      expect(await firstPage(account)).toMatchObject({ secrets: [], total: 0 });
      await expectRefusal(calls.getSecret(first.id, null), "not_found");
      await expectRefusal(calls.store(buildSecret(signer, { id: first.id }).body), "id_taken");
    });
  });

  describe("a former version", () => {
    it("goes by a change, whose line stays; the present one never", async () => {
      const { account, first } = await signInWithSecret(service());
      const { calls, signer } = account;
      await storeSecret(account, { id: first.id, base: 1 });
      const buildRemoval = (versions: number[]) =>
        buildChange(signer, { purge_versions: [{ secret_db_id: first.id, versions }] });
      for (const versions of [[2], [1, 2], [3]])
        await expectRefusal(calls.changeKeyring(buildRemoval(versions)), "keyring_change_invalid");
      expect(await calls.getSecret(first.id, 1)).toMatchObject({ version: 1 });
      await putChange(account, buildRemoval([1]));
      await expectRefusal(calls.getSecret(first.id, 1), "content_gone");
      await expectRefusal(calls.content.range({ secretId: first.id, version: 1 }, 0, 9), "content_gone");
      expect(await calls.getVersions(first.id)).toMatchObject([
        { version: 2, dropped: false },
        { version: 1, dropped: true, ticket_sha256: digestOfB64u(first.body.ticket), size: 700 },
      ]);
      await putChange(account, buildRemoval([1])); // it went before
    });
  });

  describe("a sealed content", () => {
    it("comes in ranges, and a small one in the answer", async () => {
      const { account, first } = await signInWithSecret(service());
      const content = Buffer.from(first.body.content, "base64url");
      const { range } = account.calls.content;
      const location = { secretId: first.id, version: 1 };
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
      await expectRefusal(range({ secretId: first.id, version: 2 }, 0, 1), "not_found");
      await expectRefusal(range({ secretId: makeUnknownId(), version: 1 }, 0, 1), "not_found");
    });

    it("comes whole without a range, of the present version without a number", async () => {
      const { account, first } = await signInWithSecret(service());
      const { totalSize, offset, body } = await account.http.stream("POST", "/v2/secrets/get-secret", {
        body: { secret_db_id: first.id },
      });
      expect({ totalSize, offset }).toEqual({ totalSize: 700, offset: 0 });
      expect(Buffer.from(await new Response(body).arrayBuffer()).toString("base64url")).toBe(first.body.content);
      await expectRefusal(
        (await service().signIn()).calls.content.range({ secretId: first.id, version: 1 }, 0, 1),
        "not_found",
      );
      await expectRefusal(
        service().visitor.stream("POST", "/v2/secrets/get-secret", { body: { secret_db_id: first.id } }),
        "unauthorized",
      );
    });

    it("has a size up to which it goes in one call", async () => {
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
