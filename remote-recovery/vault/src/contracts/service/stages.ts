import { createHash } from "node:crypto";

import {
  buildChange,
  buildJwe,
  buildLabel,
  buildRecipient,
  buildSecret,
  buildSlot,
  confirm,
  createSigner,
  digestOf,
  signWith,
  type Signer,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import { canonicalBytes, type StagedRow, type Json, type KeyringChange } from "@relicario/shared/api";

import { answerCallsOn } from "../../requests/answer-calls.ts";
import { newId } from "../../seal/ids.ts";
import {
  allPages,
  digestB64u,
  expectRefusal,
  noise,
  putChange,
  signInWithSecret,
  stateOf,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./under-test.ts";

type Rows = readonly [StagedRow, StagedRow, StagedRow];

/**
 * A person with a secret of two versions and one of a single version, and rows that re-seal all of
 * it.
 */
async function settled(
  service: ServiceUnderTest,
  epoch = 1,
): Promise<{ account: Account; first: string; second: string; stageId: string; rows: Rows }> {
  const {
    account,
    first: { id: first },
  } = await signInWithSecret(service);
  await storeSecret(account, { id: first, base: 1 });
  const { id: second } = await storeSecret(account);
  const { signer } = account;
  const rows: Rows = [
    {
      secret_db_id: first,
      version: 2,
      label: buildLabel(signer, first, 2, 2, epoch),
      ticket: noise(1_900),
      content: noise(900),
    },
    { secret_db_id: first, version: 1, ticket: noise(1_800), content: noise(500) },
    { secret_db_id: second, version: 1, label: buildLabel(signer, second, 1, 2, epoch), ticket: noise(1_700) },
  ];
  return { account, first, second, stageId: newId(Date.now()), rows };
}

const inOrder = (rows: readonly StagedRow[]): StagedRow[] =>
  [...rows].sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
const digestOfRows = (rows: readonly StagedRow[]): string =>
  digestOf(
    inOrder(rows)
      .map(
        (row) =>
          `${row.secret_db_id} ${String(row.version)} ${createHash("sha256").update(canonicalBytes(row)).digest("hex")}\n`,
      )
      .join(""),
  );

const switchTo = (
  { signer }: Account,
  stageId: string,
  rows: readonly StagedRow[],
  more: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => buildChange(signer, { stage_id: stageId, stage_sha256: digestOfRows(rows), ...more });

const staged = ({ calls }: Account, stageId: string): Promise<unknown[]> =>
  allPages(async (cursor) => {
    const page = await calls.staged(stageId, cursor);
    return { rows: page.rows, next: page.next_cursor };
  });

/** The statement of a new account key, signed by the one before too. */
function statementOf(signer: Signer, next: Signer): Json {
  const { x } = next.signingKey.export({ format: "jwk" });
  const bare = {
    v: 1,
    user_id: signer.userId,
    recipient: buildRecipient().replace(/q$/, "p"),
    signing_key: String(x),
    key_epoch: 2,
  };
  const { sig: previousSig } = signWith("key", bare, signer.signingKey);
  return signWith("key", { ...bare, previous_sig: previousSig }, next.signingKey);
}

/** The change to a new account key, signed by the one before. */
function rotation(
  account: Account,
  next: Signer,
  stageId: string,
  rows: readonly StagedRow[],
  more: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange {
  const { signer } = account;
  const whose = { user_id: signer.userId, key_epoch: 2 };
  return switchTo(account, stageId, rows, {
    key_epoch: 2,
    state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf(String(signer.state)) }),
    book: buildJwe({ typ: "relicario-book", ...whose }),
    shares: buildJwe({ typ: "relicario-shares", ...whose }),
    slots: { set: [buildSlot(signer.imageId)], remove: [] },
    key_statement: statementOf(signer, next),
    ...more,
  });
}

export function describeStages(service: () => ServiceUnderTest): void {
  describe("rows that were staged", () => {
    it("show nowhere until a change switches to them, and replace labels, tickets and contents then", async () => {
      const { account, first, second, stageId, rows } = await settled(service());
      const { calls } = account;
      const before = await stateOf(account);
      await calls.stage(stageId, rows.slice(0, 1));
      await calls.stage(stageId, rows);
      expect(await stateOf(account)).toEqual(before);
      expect(await staged(account, stageId)).toEqual(
        inOrder(rows).map((row) => ({
          secret_db_id: row.secret_db_id,
          version: row.version,
          row_sha256: digestB64u(canonicalBytes(row)),
        })),
      );
      await putChange(account, switchTo(account, stageId, rows));
      expect(await calls.secret(first, 2)).toMatchObject({
        label: rows[0].label,
        ticket: rows[0].ticket,
        content: rows[0].content,
      });
      expect(await calls.secret(first, 1)).toMatchObject({
        label: rows[0].label,
        ticket: rows[1].ticket,
        content: rows[1].content,
      });
      expect(await calls.secret(second, 1)).toMatchObject({ label: rows[2].label, ticket: rows[2].ticket });
      expect(await calls.versions(first)).toMatchObject([
        { version: 2, size: 900 },
        { version: 1, size: 500 },
      ]);
      await expectRefusal(calls.staged(stageId, null), "not_found");
    });

    it("are one stage at a time: another id begins a new one", async () => {
      const { account, stageId, rows } = await settled(service());
      const other = newId(Date.now());
      await account.calls.stage(stageId, rows);
      await account.calls.stage(other, rows.slice(2));
      await expectRefusal(account.calls.staged(stageId, null), "not_found");
      await expectRefusal(account.calls.changeKeyring(switchTo(account, stageId, rows)), "conflict");
      expect(await staged(account, other)).toHaveLength(1);
      await putChange(account, switchTo(account, other, rows.slice(2)));
    });

    it("are switched to when the digest is of all of them", async () => {
      const { account, stageId, rows } = await settled(service());
      await account.calls.stage(stageId, rows);
      const before = await stateOf(account);
      await expectRefusal(account.calls.changeKeyring(switchTo(account, stageId, rows.slice(0, 2))), "conflict");
      await expectRefusal(account.calls.changeKeyring(switchTo(account, newId(Date.now()), rows)), "conflict");
      expect(await stateOf(account)).toEqual(before);
    });

    it("are refused where they are of no such row", async () => {
      const { account, first, stageId, rows } = await settled(service());
      const { calls, signer } = account;
      const refused: [StagedRow, "not_found" | "version_conflict" | "keyring_change_invalid"][] = [
        [{ secret_db_id: newId(Date.now()), version: 1, ticket: noise(90) }, "not_found"],
        [{ secret_db_id: first, version: 3, ticket: noise(90) }, "not_found"],
        [{ secret_db_id: first, version: 2, ticket: noise(90) }, "version_conflict"],
        [
          { secret_db_id: first, version: 1, label: buildLabel(signer, first, 1), ticket: noise(90) },
          "version_conflict",
        ],
        [{ secret_db_id: first, version: 2, label: buildLabel(signer, first, 1) }, "keyring_change_invalid"],
        [{ secret_db_id: first, version: 2, label: buildLabel(signer, first, 2, 2, 3) }, "keyring_change_invalid"],
      ];
      for (const [row, code] of refused) await expectRefusal(calls.stage(stageId, [row]), code);
      await expectRefusal(calls.staged(stageId, null), "not_found");
      await putChange(account, buildChange(signer, { purge_versions: [{ secret_db_id: first, versions: [1] }] }));
      await expectRefusal(calls.stage(stageId, [rows[1]]), "content_gone");
      await expectRefusal((await service().signIn()).calls.stage(stageId, []), "no_keyring");
    });

    it("are not switched to once what they were sealed from has changed", async () => {
      const { account, first, second, stageId, rows } = await settled(service());
      await account.calls.stage(stageId, rows);
      await storeSecret(account, { id: second, base: 1 });
      await expectRefusal(account.calls.changeKeyring(switchTo(account, stageId, rows)), "conflict");
      const lone = [rows[1]];
      await account.calls.stage(newId(Date.now()), lone);
      const last = newId(Date.now());
      await account.calls.stage(last, lone);
      // a former one without the label that commits to it
      await expectRefusal(account.calls.changeKeyring(switchTo(account, last, lone)), "conflict");
      expect(await account.calls.secret(first, 2)).not.toMatchObject({ label: rows[0].label });
    });

    it("end the shares of a content that was re-sealed, and no others", async () => {
      const { account, first, second, stageId, rows } = await settled(service());
      const { calls, signer } = account;
      for (const [id, version] of [
        [first, 2],
        [second, 1],
      ] as const) {
        const share = buildShare(signer, id, { version });
        await calls.shares.create(share.body);
        confirm(signer, share.body.keyring);
      }
      await calls.stage(stageId, rows);
      await putChange(account, switchTo(account, stageId, rows));
      expect(await calls.shares.ofSecret(first)).toMatchObject([{ end: "ended" }]);
      expect(await calls.shares.ofSecret(second)).toMatchObject([{ end: null }]);
    });

    it("go with no secret", async () => {
      const { account, stageId, rows } = await settled(service());
      await account.calls.stage(stageId, rows);
      await expectRefusal(
        account.calls.store(
          buildSecret(account.signer, { change: { stage_id: stageId, stage_sha256: digestOfRows(rows) } }).body,
        ),
        "keyring_change_invalid",
      );
    });
  });

  describe("a new account key", () => {
    it("takes all rows, slots and documents with it, and the key before signs nothing more", async () => {
      const { account, first, stageId, rows } = await settled(service(), 2);
      const { calls, signer } = account;
      const next = { ...createSigner(signer.userId), imageId: signer.imageId };
      await calls.stage(stageId, rows);
      const change = rotation(account, next, stageId, rows);
      await putChange(account, change);
      expect(await calls.keyring(null)).toMatchObject({
        key_epoch: 2,
        state_rev: 4,
        key_statement: change.key_statement,
        slots: change.slots?.set,
        book: change.book,
      });
      expect(await calls.secret(first, null)).toMatchObject({ label: rows[0].label, ticket: rows[0].ticket });
      const state = buildJwe({
        typ: "relicario-state",
        user_id: signer.userId,
        key_epoch: 2,
        previous: digestOf(change.state),
      });
      const later = { key_epoch: 2, state };
      await expectRefusal(calls.changeKeyring(buildChange(signer, later)), "keyring_change_invalid");
      await calls.changeKeyring(buildChange({ ...next, stateRev: signer.stateRev, state: signer.state }, later));
    });

    it("closes the requests that wait for an answer", async () => {
      const { account, stageId, rows } = await settled(service(), 2);
      const { calls, signer } = account;
      const request = buildRequest(signer);
      await calls.requests.create(request.body);
      confirm(signer, request.body.keyring);
      const next = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      await expectRefusal(calls.changeKeyring(rotation(account, next, stageId, rows)), "keyring_change_invalid");
      await putChange(
        account,
        rotation(account, next, stageId, rows, {
          requests: buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 2 }),
        }),
      );
      expect(await calls.requests.list()).toMatchObject([{ state: "revoked" }]);
      await expectRefusal(
        answerCallsOn(service().visitor).look(request.requestId, request.linkAuth),
        "request_unavailable",
      );
    });

    it("is refused when something of the key before would stay", async () => {
      const { account, second, stageId, rows } = await settled(service(), 2);
      const { calls, signer } = account;
      const next = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      const before = await stateOf(account);
      const overrides: Readonly<Record<string, Json | undefined>>[] = [
        { book: undefined },
        { shares: undefined },
        { slots: undefined },
        { slots: { set: [], remove: [] } },
        { stage_id: undefined, stage_sha256: undefined },
        { key_statement: statementOf(createSigner(signer.userId), next) },
        { key_statement: statementOf(signer, { ...next, userId: newId(Date.now()), signingKey: signer.signingKey }) },
      ];
      for (const more of overrides)
        await expectRefusal(
          calls.changeKeyring(rotation(account, next, stageId, rows, more)),
          "keyring_change_invalid",
        );
      const some = rows.filter(({ secret_db_id: id }) => id !== second);
      const other = newId(Date.now());
      await calls.stage(other, some);
      await expectRefusal(calls.changeKeyring(rotation(account, next, other, some)), "conflict");
      expect(await stateOf(account)).toEqual(before);
    });
  });
}
