import { createHash } from "node:crypto";

import {
  buildChange,
  buildJwe,
  buildLabel,
  buildRecipient,
  buildSecret,
  buildSlot,
  confirmChange,
  createSigner,
  computeDigest,
  signDocument,
  type Signer,
  exportPublicKey,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import { encodeCanonical, type StagedRow, type Json, type KeyringChange } from "@relicario/shared/api";

import { createAnswerCalls } from "../../requests/answer-calls.ts";
import { newId } from "../../seal/ids.ts";
import {
  readAllPages,
  computeDigestB64u,
  expectRefusal,
  randomB64u,
  putChange,
  signInWithSecret,
  readAccountState,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

type Rows = readonly [StagedRow, StagedRow, StagedRow];

/**
 * Creates an account with one secret of two versions and one of a single version, and rows that
 * re-seal both.
 */
async function prepareStage(
  service: ServiceUnderTest,
  epoch = 1,
): Promise<{ account: Account; firstId: string; secondId: string; stageId: string; rows: Rows }> {
  const {
    account,
    firstSecret: { id: firstId },
  } = await signInWithSecret(service);
  await storeSecret(account, { id: firstId, base: 1 });
  const { id: secondId } = await storeSecret(account);
  const { signer } = account;
  const rows: Rows = [
    {
      secret_db_id: firstId,
      version: 2,
      label: buildLabel(signer, firstId, 2, 2, epoch),
      ticket: randomB64u(1_900),
      content: randomB64u(900),
    },
    { secret_db_id: firstId, version: 1, ticket: randomB64u(1_800), content: randomB64u(500) },
    { secret_db_id: secondId, version: 1, label: buildLabel(signer, secondId, 1, 2, epoch), ticket: randomB64u(1_700) },
  ];
  return { account, firstId, secondId, stageId: newId(Date.now()), rows };
}

const sortRows = (rows: readonly StagedRow[]): StagedRow[] =>
  [...rows].sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
const digestOfRows = (rows: readonly StagedRow[]): string =>
  computeDigest(
    sortRows(rows)
      .map(
        (row) =>
          `${row.secret_db_id} ${String(row.version)} ${createHash("sha256").update(encodeCanonical(row)).digest("hex")}\n`,
      )
      .join(""),
  );

const buildSwitch = (
  { signer }: Account,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => buildChange(signer, { stage_id: stageId, stage_sha256: digestOfRows(rows), ...overrides });

const listStaged = ({ calls }: Account, stageId: string): Promise<unknown[]> =>
  readAllPages(async (cursor) => {
    const page = await calls.getStagedRows(stageId, cursor);
    return { rows: page.rows, next: page.next_cursor };
  });

/** Builds the statement of a new account key, which the previous key also signs. */
function buildRotatedStatement(signer: Signer, nextSigner: Signer): Json {
  const body = {
    v: 1,
    user_id: signer.userId,
    recipient: buildRecipient().replace(/q$/, "p"),
    signing_key: exportPublicKey(nextSigner.signingKey),
    author_key: exportPublicKey(nextSigner.authorKey),
    key_epoch: 2,
  };
  const { sig: previousSig } = signDocument("key", body, signer.authorKey);
  return signDocument("key", { ...body, previous_sig: previousSig }, nextSigner.authorKey);
}

/** Builds the change to a new account key, signed by the previous one. */
function buildRotation(
  account: Account,
  nextSigner: Signer,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange {
  const { signer } = account;
  const header = { user_id: signer.userId, key_epoch: 2 };
  return buildSwitch(account, stageId, rows, {
    key_epoch: 2,
    state: buildJwe({ typ: "relicario-state", ...header, previous: computeDigest(String(signer.state)) }),
    book: buildJwe({ typ: "relicario-book", ...header }),
    shares: buildJwe({ typ: "relicario-shares", ...header }),
    slots: { set: [buildSlot(signer.imageId)], remove: [] },
    key_statement: buildRotatedStatement(signer, nextSigner),
    ...overrides,
  });
}

export function describeStages(service: () => ServiceUnderTest): void {
  describe("staged rows", () => {
    it("replace labels, tickets and contents only when a change switches to them", async () => {
      const { account, firstId, secondId, stageId, rows } = await prepareStage(service());
      const { calls } = account;
      const stateBefore = await readAccountState(account);
      await calls.stage(stageId, rows.slice(0, 1));
      await calls.stage(stageId, rows);
      expect(await readAccountState(account)).toEqual(stateBefore);
      expect(await listStaged(account, stageId)).toEqual(
        sortRows(rows).map((row) => ({
          secret_db_id: row.secret_db_id,
          version: row.version,
          row_sha256: computeDigestB64u(encodeCanonical(row)),
        })),
      );
      await putChange(account, buildSwitch(account, stageId, rows));
      expect(await calls.getSecret(firstId, 2)).toMatchObject({
        label: rows[0].label,
        ticket: rows[0].ticket,
        content: rows[0].content,
      });
      expect(await calls.getSecret(firstId, 1)).toMatchObject({
        label: rows[0].label,
        ticket: rows[1].ticket,
        content: rows[1].content,
      });
      expect(await calls.getSecret(secondId, 1)).toMatchObject({ label: rows[2].label, ticket: rows[2].ticket });
      expect(await calls.getVersions(firstId)).toMatchObject([
        { version: 2, size: 900 },
        { version: 1, size: 500 },
      ]);
      await expectRefusal(calls.getStagedRows(stageId, null), "not_found");
    });

    it("form one stage at a time: a stage with another id replaces the first", async () => {
      const { account, stageId, rows } = await prepareStage(service());
      const otherStageId = newId(Date.now());
      await account.calls.stage(stageId, rows);
      await account.calls.stage(otherStageId, rows.slice(2));
      await expectRefusal(account.calls.getStagedRows(stageId, null), "not_found");
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows)), "conflict");
      expect(await listStaged(account, otherStageId)).toHaveLength(1);
      await putChange(account, buildSwitch(account, otherStageId, rows.slice(2)));
    });

    it("are switched to only with the digest of all rows", async () => {
      const { account, stageId, rows } = await prepareStage(service());
      await account.calls.stage(stageId, rows);
      const stateBefore = await readAccountState(account);
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows.slice(0, 2))), "conflict");
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, newId(Date.now()), rows)), "conflict");
      expect(await readAccountState(account)).toEqual(stateBefore);
    });

    it("are refused when they match no stored version", async () => {
      const { account, firstId, stageId, rows } = await prepareStage(service());
      const { calls, signer } = account;
      const refusedRows: [StagedRow, "not_found" | "version_conflict" | "keyring_change_invalid"][] = [
        [{ secret_db_id: newId(Date.now()), version: 1, ticket: randomB64u(90) }, "not_found"],
        [{ secret_db_id: firstId, version: 3, ticket: randomB64u(90) }, "not_found"],
        [{ secret_db_id: firstId, version: 2, ticket: randomB64u(90) }, "version_conflict"],
        [
          { secret_db_id: firstId, version: 1, label: buildLabel(signer, firstId, 1), ticket: randomB64u(90) },
          "version_conflict",
        ],
        [{ secret_db_id: firstId, version: 2, label: buildLabel(signer, firstId, 1) }, "keyring_change_invalid"],
        [{ secret_db_id: firstId, version: 2, label: buildLabel(signer, firstId, 2, 2, 3) }, "keyring_change_invalid"],
      ];
      for (const [row, code] of refusedRows) await expectRefusal(calls.stage(stageId, [row]), code);
      await expectRefusal(calls.getStagedRows(stageId, null), "not_found");
      await putChange(account, buildChange(signer, { purge_versions: [{ secret_db_id: firstId, versions: [1] }] }));
      await expectRefusal(calls.stage(stageId, [rows[1]]), "content_gone");
      await expectRefusal((await service().signIn()).calls.stage(stageId, []), "no_keyring");
    });

    it("are not switched to after their source has changed", async () => {
      const { account, firstId, secondId, stageId, rows } = await prepareStage(service());
      await account.calls.stage(stageId, rows);
      await storeSecret(account, { id: secondId, base: 1 });
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows)), "conflict");
      const singleRow = [rows[1]];
      await account.calls.stage(newId(Date.now()), singleRow);
      const lastStageId = newId(Date.now());
      await account.calls.stage(lastStageId, singleRow);
      // a former version without the label that commits to it
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, lastStageId, singleRow)), "conflict");
      expect(await account.calls.getSecret(firstId, 2)).not.toMatchObject({ label: rows[0].label });
    });

    it("end only the shares of re-sealed contents", async () => {
      const { account, firstId, secondId, stageId, rows } = await prepareStage(service());
      const { calls, signer } = account;
      for (const [id, version] of [
        [firstId, 2],
        [secondId, 1],
      ] as const) {
        const share = buildShare(signer, id, { version });
        await calls.shares.create(share.body);
        confirmChange(signer, share.body.keyring);
      }
      await calls.stage(stageId, rows);
      await putChange(account, buildSwitch(account, stageId, rows));
      expect(await calls.shares.listOfSecret(firstId)).toMatchObject([{ end: "ended" }]);
      expect(await calls.shares.listOfSecret(secondId)).toMatchObject([{ end: null }]);
    });

    it("are refused in a call that stores a secret", async () => {
      const { account, stageId, rows } = await prepareStage(service());
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
    it("replaces all rows, slots and documents; the previous key can no longer sign", async () => {
      const { account, firstId, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const nextSigner = { ...createSigner(signer.userId), imageId: signer.imageId };
      await calls.stage(stageId, rows);
      const change = buildRotation(account, nextSigner, stageId, rows);
      await putChange(account, change);
      expect(await calls.getKeyring(null)).toMatchObject({
        key_epoch: 2,
        state_rev: 4,
        key_statement: change.key_statement,
        slots: change.slots?.set,
        book: change.book,
      });
      expect(await calls.getSecret(firstId, null)).toMatchObject({ label: rows[0].label, ticket: rows[0].ticket });
      const state = buildJwe({
        typ: "relicario-state",
        user_id: signer.userId,
        key_epoch: 2,
        previous: computeDigest(change.state),
      });
      const laterOverrides = { key_epoch: 2, state };
      await expectRefusal(calls.changeKeyring(buildChange(signer, laterOverrides)), "keyring_change_invalid");
      await calls.changeKeyring(
        buildChange({ ...nextSigner, stateRev: signer.stateRev, state: signer.state }, laterOverrides),
      );
    });

    it("revokes open requests", async () => {
      const { account, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const request = buildRequest(signer);
      await calls.requests.create(request.body);
      confirmChange(signer, request.body.keyring);
      const nextSigner = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      await expectRefusal(
        calls.changeKeyring(buildRotation(account, nextSigner, stageId, rows)),
        "keyring_change_invalid",
      );
      await putChange(
        account,
        buildRotation(account, nextSigner, stageId, rows, {
          requests: buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 2 }),
        }),
      );
      expect(await calls.requests.list()).toMatchObject([{ state: "revoked" }]);
      await expectRefusal(
        createAnswerCalls(service().visitor).inspect(request.requestId, request.linkAuth),
        "request_unavailable",
      );
    });

    it("is refused when a row or slot of the previous key would stay", async () => {
      const { account, secondId, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const nextSigner = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      const stateBefore = await readAccountState(account);
      const overrides: Readonly<Record<string, Json | undefined>>[] = [
        { book: undefined },
        { shares: undefined },
        { slots: undefined },
        { slots: { set: [], remove: [] } },
        { stage_id: undefined, stage_sha256: undefined },
        { key_statement: buildRotatedStatement(createSigner(signer.userId), nextSigner) },
        {
          key_statement: buildRotatedStatement(signer, {
            ...nextSigner,
            userId: newId(Date.now()),
            signingKey: signer.signingKey,
          }),
        },
      ];
      for (const change of overrides)
        await expectRefusal(
          calls.changeKeyring(buildRotation(account, nextSigner, stageId, rows, change)),
          "keyring_change_invalid",
        );
      const partialRows = rows.filter(({ secret_db_id: id }) => id !== secondId);
      const otherStageId = newId(Date.now());
      await calls.stage(otherStageId, partialRows);
      await expectRefusal(
        calls.changeKeyring(buildRotation(account, nextSigner, otherStageId, partialRows)),
        "conflict",
      );
      expect(await readAccountState(account)).toEqual(stateBefore);
    });
  });
}
