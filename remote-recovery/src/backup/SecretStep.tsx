import { maxTitleLength } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import {
  Checkbox,
  FieldError,
  FileField,
  KindChoice,
  SecretTextArea,
  SeedField,
  TagField,
  TextField,
  titleOfFile,
} from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Notice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { secretProblems } from "./backup-draft.ts";
import { LostNotice } from "./LostNotice.tsx";
import type { StepProps } from "./step-props.ts";

interface SecretStepProps extends StepProps {
  /** Nothing was ever kept in the account: only the person can know that this is so. */
  readonly first: boolean;
}

/** Route `/provide-secret`: what is protected, and what it is called. */
export function SecretStep({ draft, lost, first, onChange }: SecretStepProps) {
  const { t } = useTranslation("provide-secret");
  const { navigate } = usePortal();
  const [asked, setAsked] = useState(false);
  const problems = secretProblems(draft, first);
  const told = asked ? problems : {};
  const sentence = (problem: keyof typeof told) => {
    const found = told[problem];
    return found === undefined ? null : t(`problem.${found}_error`);
  };
  const { kind, text, file, title, tags, promised } = draft;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setAsked(true);
    if (Object.keys(problems).length === 0) navigate("/processing");
  };
  const handleText = (next: string) => {
    onChange({ text: next });
  };
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <FlowSteps flow="backup" step="secret" />
      <LostNotice lost={lost} />
      <form onSubmit={handleSubmit} noValidate>
        <Stack $gap={5}>
          <Card>
            <Stack $gap={5}>
              <KindChoice
                legend={t("kind.label")}
                value={kind}
                disabled={false}
                onChange={(next) => {
                  onChange({ kind: next });
                }}
              />
              {kind === "text" && (
                <SecretTextArea
                  label={t("content.label")}
                  hint={t("content.hint")}
                  error={sentence("content")}
                  value={text}
                  onChange={(event) => {
                    handleText(event.target.value);
                  }}
                />
              )}
              {kind === "seed" && (
                <SeedField
                  value={text}
                  disabled={false}
                  error={sentence("content")}
                  fieldRef={null}
                  onBlur={() => undefined}
                  onChange={handleText}
                />
              )}
              {kind === "file" && (
                <FileField
                  label={t("file.label")}
                  invitation={t("file.drop_body")}
                  hint={t("file.hint")}
                  value={file}
                  disabled={false}
                  error={sentence("content")}
                  onChange={(next) => {
                    onChange({ file: next, ...(title === "" ? { title: titleOfFile(next.name) } : {}) });
                  }}
                />
              )}
              <TextField
                label={t("title.label")}
                hint={t("title.hint")}
                error={sentence("title")}
                maxLength={maxTitleLength}
                autoComplete="off"
                value={title}
                onChange={(event) => {
                  onChange({ title: event.target.value });
                }}
              />
              <TagField
                label={t("tags.label")}
                hint={t("tags.hint")}
                value={tags}
                suggestions={[]}
                onChange={(next) => {
                  onChange({ tags: next });
                }}
              />
            </Stack>
          </Card>
          {first && (
            <Notice tone="warn" title={t("first.title")}>
              <p>{t("first.body")}</p>
              <Checkbox
                label={t("first.label")}
                error={sentence("promised")}
                checked={promised}
                onChange={(event) => {
                  onChange({ promised: event.target.checked });
                }}
              />
            </Notice>
          )}
          {Object.keys(told).length > 0 && <FieldError>{t("page.incomplete_error")}</FieldError>}
          <SpacedRow>
            <Button type="submit" size="large">
              {t("page.protect_action")}
            </Button>
            <ButtonLink to="/provide-image" tone="quiet" size="large">
              {t("page.back_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </form>
    </Page>
  );
}
