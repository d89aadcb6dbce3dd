import type { PersonDetails, Vault } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { Button, Card, ErrorNotice, Notice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";

interface DecisionProps {
  readonly vault: Vault;
  readonly details: PersonDetails;
  readonly onLater: () => void;
}

/** The first thing of somebody whose keys are not pinned: accept it, block them, or leave it. */
export function UnknownSender({ vault, details, onAccept, onLater }: DecisionProps & { readonly onAccept: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const block = useBlock(vault, name);
  if (block.isSuccess) return <JustBlocked name={name} />;
  return (
    <Card>
      <Stack $gap={4}>
        <Notice role="alert" title={t("sender.unknown_title", { name })}>
          {t("sender.unknown_body", { name })}
        </Notice>
        <WordList words={details.words} label={t("sender.words_label", { name })} />
        <SmallText>{t("sender.compare_hint", { name })}</SmallText>
        <ErrorNotice error={block.error} />
        <SpacedRow>
          <Button onClick={onAccept}>{t("sender.accept_action")}</Button>
          <Button tone="quiet" onClick={onLater}>
            {t("sender.later_action")}
          </Button>
          <Button tone="danger" pending={block.isPending} onClick={() => block.mutate(true)}>
            {t("sender.block_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Other keys than those pinned: both sets of words, and nothing opens before the person decides. */
export function ChangedSender({ vault, details, onGoOn, onLater }: DecisionProps & { readonly onGoOn: () => void }) {
  const { t } = useTranslation("beta-share");
  const name = details.userName;
  const block = useBlock(vault, name);
  const pin = useMutation({
    mutationFn: async () => {
      const person = await vault.people.find(name);
      // Those that were shown and no others: the directory may say something else by now.
      if (person.words.join(" ") !== details.words.join(" ")) throw new PortalError("person_changed");
      await vault.people.pin(person);
    },
    onSuccess: onGoOn,
  });
  if (block.isSuccess) return <JustBlocked name={name} />;
  return (
    <Card>
      <Stack $gap={4}>
        <Notice role="alert" tone="danger" title={t("sender.changed_title", { name })}>
          {t("sender.changed_body", { name })}
        </Notice>
        {details.formerWords !== null && <WordList words={details.formerWords} label={t("sender.former_words_label")} />}
        <WordList words={details.words} label={t("sender.new_words_label")} />
        <ErrorNotice error={pin.error ?? block.error} />
        <SpacedRow>
          <Button onClick={onLater}>{t("sender.later_action")}</Button>
          <Button tone="danger" pending={pin.isPending} onClick={() => pin.mutate()}>
            {t("sender.trust_action")}
          </Button>
          <Button tone="quiet" pending={block.isPending} onClick={() => block.mutate(true)}>
            {t("sender.block_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** Somebody whom the person blocked before. */
export function BlockedSender({ vault, userName, onGoOn }: { readonly vault: Vault; readonly userName: string; readonly onGoOn: () => void }) {
  const { t } = useTranslation("beta-share");
  const block = useBlock(vault, userName, onGoOn);
  return (
    <Stack $gap={3}>
      <Notice
        role="alert"
        tone="warn"
        title={t("sender.blocked_title", { name: userName })}
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

function JustBlocked({ name }: { readonly name: string }) {
  const { t } = useTranslation("beta-share");
  return (
    <Notice role="status" title={t("sender.blocked_title", { name })}>
      {t("sender.blocked_body")}
    </Notice>
  );
}

/** Blocks or unblocks somebody by user name. */
function useBlock(vault: Vault, userName: string, onSuccess: () => void = () => undefined) {
  return useMutation({
    mutationFn: async (blocked: boolean) => {
      const { userId } = await vault.people.find(userName);
      await vault.people.setBlocked(userId, blocked);
    },
    onSuccess,
  });
}
