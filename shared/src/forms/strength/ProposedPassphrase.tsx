import { useState } from "react";
import { useTranslation } from "react-i18next";

import { proposePassphrase } from "../../contract/strength.ts";
import { Button } from "../../ui/Button.tsx";
import { SmallText, Stack } from "../../ui/layout.tsx";
import { ErrorNotice } from "../../ui/notices.tsx";
import { VerbatimOutput } from "./VerbatimOutput.tsx";

interface ProposedPassphraseProps {
  readonly passphrase: string;
  readonly disabled?: boolean;
  readonly onPropose: (passphrase: string) => void;
}

/** Proposes a passphrase on request, and shows it while the field contains it. */
export function ProposedPassphrase({ passphrase, disabled = false, onPropose }: ProposedPassphraseProps) {
  const { t } = useTranslation("common");
  const [proposal, setProposal] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const handlePropose = () => {
    proposePassphrase().then(
      (words) => {
        setFailure(null);
        setProposal(words);
        onPropose(words);
      },
      (error: unknown) => {
        setFailure(error);
      },
    );
  };
  return (
    <Stack $gap={2}>
      {proposal !== null && proposal === passphrase && (
        <>
          <VerbatimOutput aria-label={t("strength.proposed_aria")}>{proposal}</VerbatimOutput>
          <SmallText>{t("strength.proposed_hint")}</SmallText>
        </>
      )}
      <ErrorNotice error={failure} />
      <div>
        <Button tone="quiet" size="small" disabled={disabled} onClick={handlePropose}>
          {t("strength.propose_action")}
        </Button>
      </div>
    </Stack>
  );
}
