import type { Vault } from "@relicario/shared/contract";
import { OpenerPrompt, type VaultOperation } from "@relicario/shared/forms";
import { Card, SectionTitle, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import styled from "styled-components";

interface SaveOpenerPromptProps {
  readonly vault: Vault;
  readonly operation: VaultOperation;
  readonly onSubmit: () => void;
}

/** Asks for an opener in use after a save without one was refused. */
export function SaveOpenerPrompt({ vault, operation, onSubmit }: SaveOpenerPromptProps) {
  const { t } = useTranslation("beta-add-secret");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // scrolls, because the prompt may be below the visible part
  }, []);
  return (
    <Card aria-labelledby="opener-first">
      <Stack $gap={4}>
        <Title id="opener-first" ref={titleRef} tabIndex={-1}>
          {t("opener_first.title")}
        </Title>
        <p>{t("opener_first.body")}</p>
        <OpenerPrompt
          vault={vault}
          operation={operation}
          label={t("opener_first.action")}
          onSubmit={onSubmit}
          onClose={operation.cancel}
        />
      </Stack>
    </Card>
  );
}

/** Scrolls so that the prompt below the focused title is visible too. */
const Title = styled(SectionTitle)`
  scroll-margin-block: 40vh;
`;
