import type { PersonDetails, PersonKeys, Vault } from "@relicario/shared/contract";
import { NumberedWords, RequestedOpener, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, markVerbatim, Notice, renderVerbatim, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { ChangedPerson } from "./ChangedPerson.tsx";

interface SenderDecisionProps {
  readonly vault: Vault;
  readonly details: PersonDetails;
  readonly onDismiss: () => void;
}

/**
 * Shown for the first share of a sender without pinned keys. The person accepts the sender, blocks
 * them, or decides later.
 */
export function UnknownSender({
  vault,
  details,
  onAccept,
  onDismiss,
}: SenderDecisionProps & { readonly onAccept: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const { operation, blocked, setBlocked } = useSetBlocked(vault, details);
  if (blocked) return <BlockedNotice name={name} />;
  return (
    <Card>
      <Stack $gap={4}>
        <Notice role="alert" title={t("sender.unknown_title", { name: markVerbatim(name) })}>
          {renderVerbatim(t("sender.unknown_body", { name: markVerbatim(name) }))}
        </Notice>
        {details.safetyWords.length === 0 ? (
          <SmallText>{renderVerbatim(t("sender.no_keys_body", { name: markVerbatim(name) }))}</SmallText>
        ) : (
          <>
            <NumberedWords words={details.safetyWords} label={t("sender.words_label", { name })} />
            <SmallText>{renderVerbatim(t("sender.compare_hint", { name: markVerbatim(name) }))}</SmallText>
          </>
        )}
        <RequestedOpener vault={vault} operation={operation} />
        <SpacedRow>
          <Button onClick={onAccept}>{t("sender.accept_action")}</Button>
          <Button tone="quiet" onClick={onDismiss}>
            {t("sender.later_action")}
          </Button>
          {details.safetyWords.length > 0 && (
            <Button tone="danger" pending={operation.running} onClick={() => setBlocked(true)}>
              {t("sender.block_action")}
            </Button>
          )}
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Shown if keys or name of the sender changed. Nothing opens before the person decides. */
export function ChangedSender({
  vault,
  details,
  onContinue,
  onDismiss,
}: SenderDecisionProps & { readonly onContinue: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const { operation, blocked, setBlocked } = useSetBlocked(vault, details);
  const handleTrust = () => {
    operation.start({ run: runUnlocked(vault, () => vault.people.pin(details)), onDone: onContinue });
  };
  if (blocked) return <BlockedNotice name={name} />;
  return (
    <Card>
      <ChangedPerson
        person={details}
        title={t("sender.changed_title", { name: markVerbatim(name) })}
        body={t("sender.changed_body", { name: markVerbatim(name) })}
        trustLabel={t("sender.trust_action")}
        pending={operation.running}
        onTrust={handleTrust}
      >
        <RequestedOpener vault={vault} operation={operation} />
        <SpacedRow>
          <Button onClick={onDismiss}>{t("sender.later_action")}</Button>
          {details.safetyWords.length > 0 && (
            <Button tone="quiet" pending={operation.running} onClick={() => setBlocked(true)}>
              {t("sender.block_action")}
            </Button>
          )}
        </SpacedRow>
      </ChangedPerson>
    </Card>
  );
}

export function BlockedSender({
  vault,
  details,
  onContinue,
}: Pick<SenderDecisionProps, "vault" | "details"> & { readonly onContinue: () => void }) {
  const { t } = useTranslation("beta-share");
  const { operation, setBlocked } = useSetBlocked(vault, details, onContinue);
  return (
    <Stack $gap={3}>
      <Notice
        role="alert"
        tone="warn"
        title={t("sender.blocked_title", { name: markVerbatim(details.userName) })}
        actions={
          <Button tone="quiet" size="small" pending={operation.running} onClick={() => setBlocked(false)}>
            {t("sender.unblock_action")}
          </Button>
        }
      >
        {t("sender.blocked_body")}
      </Notice>
      <RequestedOpener vault={vault} operation={operation} />
    </Stack>
  );
}

function BlockedNotice({ name }: { readonly name: string }) {
  const { t } = useTranslation("beta-share");
  return (
    <Notice role="status" title={t("sender.blocked_title", { name: markVerbatim(name) })}>
      {t("sender.blocked_body")}
    </Notice>
  );
}

/** Blocks or unblocks the account with the keys whose safety words were shown. */
function useSetBlocked(vault: Vault, person: PersonKeys, onDone: () => void = () => undefined) {
  const operation = useVaultOperation({ vault });
  const [blocked, setBlockedState] = useState(false);
  const setBlocked = (next: boolean) => {
    operation.start({
      run: runUnlocked(vault, () => vault.people.setBlocked(person, next)),
      onDone: () => {
        setBlockedState(next);
        onDone();
      },
    });
  };
  return { operation, blocked, setBlocked };
}
