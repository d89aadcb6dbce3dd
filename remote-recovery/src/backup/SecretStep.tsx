import { maxTitleLength } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import {
  Checkbox,
  FieldError,
  FileField,
  KindChoice,
  RecordEditor,
  SecretTextArea,
  SeedField,
  TagField,
  TextField,
  suggestTitle,
} from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Notice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { findSecretProblems } from "./backup-draft.ts";
import { DraftLostNotice } from "./DraftLostNotice.tsx";
import type { StepProps } from "./step-props.ts";

interface SecretStepProps extends StepProps {
  /** Whether the service reports an empty account; the person must confirm it. */
  readonly isFirstSecret: boolean;
}

/** Route `/provide-secret`: content, title and tags. */
export function SecretStep({ draft, lossReason, isFirstSecret, onChange }: SecretStepProps) {
  const { t } = useTranslation("provide-secret");
  const { navigate } = usePortal();
  const [submitted, setSubmitted] = useState(false);
  const problems = findSecretProblems(draft, isFirstSecret);
  const visibleProblems = submitted ? problems : {};
  const getProblemText = (field: keyof typeof visibleProblems) => {
    const problemCode = visibleProblems[field];
    return problemCode === undefined ? null : t(`problem.${problemCode}_error`);
  };
  const { kind, text, record, file, title, tags, emptyAccountConfirmed } = draft;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (Object.keys(problems).length === 0) navigate("/processing");
  };
  const handleText = (next: string) => {
    onChange({ text: next });
  };
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <FlowSteps flow="backup" step="secret" />
      <DraftLostNotice lossReason={lossReason} />
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
                  error={getProblemText("content")}
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
                  error={getProblemText("content")}
                  fieldRef={null}
                  onBlur={() => undefined}
                  onChange={handleText}
                />
              )}
              {kind === "record" && (
                <RecordEditor
                  value={record}
                  disabled={false}
                  error={getProblemText("content")}
                  onChange={(next) => {
                    onChange({ record: next });
                  }}
                />
              )}
              {kind === "file" && (
                <FileField
                  label={t("file.label")}
                  placeholder={t("file.start_body")}
                  hint={t("file.hint")}
                  value={file}
                  disabled={false}
                  error={getProblemText("content")}
                  onChange={(next) => {
                    onChange({ file: next, ...(title === "" ? { title: suggestTitle(next.name) } : {}) });
                  }}
                />
              )}
              <TextField
                label={t("title.label")}
                hint={t("title.hint")}
                error={getProblemText("title")}
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
          {isFirstSecret && (
            <Notice tone="warn" title={t("first.title")}>
              <p>{t("first.body")}</p>
              <Checkbox
                label={t("first.label")}
                error={getProblemText("emptyAccountConfirmed")}
                checked={emptyAccountConfirmed}
                onChange={(event) => {
                  onChange({ emptyAccountConfirmed: event.target.checked });
                }}
              />
            </Notice>
          )}
          {Object.keys(visibleProblems).length > 0 && <FieldError>{t("page.incomplete_error")}</FieldError>}
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
