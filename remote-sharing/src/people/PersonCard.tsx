import { usePortal, type FoundPerson, type Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, Notice, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { receivedKeys } from "../data/received.ts";
import { StandingMark } from "./StandingMark.tsx";
import { WordList } from "../link/WordList.tsx";

interface PersonCardProps {
  readonly vault: Vault;
  readonly person: FoundPerson & { readonly pinnedAt: string };
}

/** Somebody whose keys are pinned: their words, whether they were compared, and blocking them. */
export function PersonCard({ vault, person }: PersonCardProps) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { userId, userName, standing, blocked, words, formerWords, pinnedAt } = person;
  const act = usePersonAct();
  return (
    <Card as="article" aria-label={userName}>
      <Stack $gap={3}>
        <Who>
          <h3>{userName}</h3>
          <StandingMark standing={standing} blocked={blocked} />
        </Who>
        <SmallText>{t("people.since_body", { when: formatsOf(language).date(pinnedAt) })}</SmallText>
        {standing === "changed" && (
          <Notice
            tone="danger"
            title={t("sender.changed_title", { name: userName })}
            actions={
              <Button tone="danger" size="small" pending={act.isPending} onClick={() => act.mutate(() => vault.people.pin(person))}>
                {t("sender.trust_action")}
              </Button>
            }
          >
            {t("sender.changed_body", { name: userName })}
          </Notice>
        )}
        {formerWords !== null && <WordList words={formerWords} label={t("sender.former_words_label")} />}
        <WordList words={words} label={t(standing === "changed" ? "sender.new_words_label" : "sender.words_label", { name: userName })} />
        {(standing === "known" || standing === "compared") && (
          <Checkbox
            label={t("people.compared_label", { name: userName })}
            checked={standing === "compared"}
            disabled={act.isPending}
            onChange={(event) => {
              const { checked } = event.target;
              act.mutate(() => vault.people.setCompared(userId, checked));
            }}
          />
        )}
        <ErrorNotice error={act.error} />
        <SpacedRow>
          <Button tone="quiet" size="small" icon={<Ban aria-hidden />} pending={act.isPending} onClick={() => act.mutate(() => vault.people.setBlocked(person, !blocked))}>
            {t(blocked ? "people.unblock_action" : "people.block_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** One change of the sealed book at a time; the list is read anew afterwards, also after a failure. */
function usePersonAct() {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (act: () => Promise<void>) => act(),
    onSettled: () => client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) }),
  });
}

const Who = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  overflow-wrap: anywhere;
`;
