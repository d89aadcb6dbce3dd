import type { PersonDetails, PersonKeys, Vault } from "@relicario/shared/contract";
import { Button, Card, ErrorNotice, Notice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";
import { ChangedPerson } from "./ChangedPerson.tsx";

interface SenderDecisionProps {
  readonly vault: Vault;
  readonly details: PersonDetails;
  readonly onDismiss: () => void;
}

/** The first thing of somebody whose keys are not pinned: accept it, block them, or leave it. */
export function UnknownSender({
  vault,
  details,
  onAccept,
  onDismiss,
}: SenderDecisionProps & { readonly onAccept: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const block = useBlockMutation(vault, details);
  if (block.isSuccess) return <BlockedNotice name={name} />;
  return (
    <Card>
      <Stack $gap={4}>
        <Notice role="alert" title={t("sender.unknown_title", { name })}>
          {t("sender.unknown_body", { name })}
        </Notice>
        {details.safetyWords.length === 0 ? (
          <SmallText>{t("sender.no_keys_body", { name })}</SmallText>
        ) : (
          <>
            <WordList words={details.safetyWords} label={t("sender.words_label", { name })} />
            <SmallText>{t("sender.compare_hint", { name })}</SmallText>
          </>
        )}
        <ErrorNotice error={block.error} />
        <SpacedRow>
          <Button onClick={onAccept}>{t("sender.accept_action")}</Button>
          <Button tone="quiet" onClick={onDismiss}>
            {t("sender.later_action")}
          </Button>
          {details.safetyWords.length > 0 && (
            <Button tone="danger" pending={block.isPending} onClick={() => block.mutate(true)}>
              {t("sender.block_action")}
            </Button>
          )}
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Other keys than those pinned, or another name: nothing opens before the person decides. */
export function ChangedSender({
  vault,
  details,
  onContinue,
  onDismiss,
}: SenderDecisionProps & { readonly onContinue: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const block = useBlockMutation(vault, details);
  const trust = useMutation({ mutationFn: () => vault.people.pin(details), onSuccess: onContinue });
  if (block.isSuccess) return <BlockedNotice name={name} />;
  return (
    <Card>
      <ChangedPerson
        person={details}
        title={t("sender.changed_title", { name })}
        body={t("sender.changed_body", { name })}
        trustLabel={t("sender.trust_action")}
        pending={trust.isPending}
        onTrust={() => trust.mutate()}
      >
        <ErrorNotice error={trust.error ?? block.error} />
        <SpacedRow>
          <Button onClick={onDismiss}>{t("sender.later_action")}</Button>
          {details.safetyWords.length > 0 && (
            <Button tone="quiet" pending={block.isPending} onClick={() => block.mutate(true)}>
              {t("sender.block_action")}
            </Button>
          )}
        </SpacedRow>
      </ChangedPerson>
    </Card>
  );
}

/** Somebody whom the person blocked before. */
export function BlockedSender({
  vault,
  details,
  onContinue,
}: Pick<SenderDecisionProps, "vault" | "details"> & { readonly onContinue: () => void }) {
  const { t } = useTranslation("beta-share");
  const block = useBlockMutation(vault, details, onContinue);
  return (
    <Stack $gap={3}>
      <Notice
        role="alert"
        tone="warn"
        title={t("sender.blocked_title", { name: details.userName })}
        actions={
          <Button tone="quiet" size="small" pending={block.isPending} onClick={() => block.mutate(false)}>
            {t("sender.unblock_action")}
          </Button>
        }
      >
        {t("sender.blocked_body")}
      </Notice>
      <ErrorNotice error={block.error} />
    </Stack>
  );
}

function BlockedNotice({ name }: { readonly name: string }) {
  const { t } = useTranslation("beta-share");
  return (
    <Notice role="status" title={t("sender.blocked_title", { name })}>
      {t("sender.blocked_body")}
    </Notice>
  );
}

/** Blocks or unblocks the account whose words were shown. */
function useBlockMutation(vault: Vault, person: PersonKeys, onSuccess: () => void = () => undefined) {
  return useMutation({ mutationFn: (blocked: boolean) => vault.people.setBlocked(person, blocked), onSuccess });
}
