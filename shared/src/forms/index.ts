/**
 * Form controls, and buttons to copy, print and save. Loaded in a script of its own, beside the
 * host's.
 */
export { OperationProgress, type OperationProgressProps } from "./OperationProgress.tsx";
export {
  Checkbox,
  ChoiceGroup,
  Switch,
  type CheckboxProps,
  type Choice,
  type ChoiceGroupProps,
  type SwitchProps,
} from "./choices.tsx";
export { clipboardClearMilliseconds, copyTemporarily, type TemporaryCopy } from "./clipboard.ts";
export { CopyButton, type CopyButtonProps } from "./CopyButton.tsx";
export { DeviceQuestion, type DeviceQuestionProps } from "./DeviceQuestion.tsx";
export { Field, FieldError, Hint, Label, type ControlAttributes, type FieldProps } from "./Field.tsx";
export {
  PasswordField,
  SecretTextArea,
  TextArea,
  TextField,
  type PasswordFieldProps,
  type TextAreaProps,
  type TextFieldProps,
} from "./inputs.tsx";
export {
  toContentInput,
  findContentProblem,
  contentProblems,
  maxImageNameLength,
  maxTextBytes,
  suggestTitle,
  type ContentDraft,
  type ContentProblem,
} from "./content/content-draft.ts";
export { FileField, type FileFieldProps } from "./content/FileField.tsx";
export { KindChoice, type KindChoiceProps } from "./content/KindChoice.tsx";
export { FilterBox, FilterFields, ListToolbar, type ListToolbarProps } from "./ListToolbar.tsx";
export { PrintButton, type PrintButtonProps } from "./PrintButton.tsx";
export { RevealedContent, type RevealedContentProps } from "./RevealedContent.tsx";
export { PrintSheet, type PrintSheetProps } from "./PrintSheet.tsx";
export { saveFile } from "./save-file.ts";
export { SeedField, type SeedFieldProps } from "./seed/SeedField.tsx";
export { loadWordList } from "./seed/word-lists.ts";
export { SelectField, type SelectFieldProps } from "./SelectField.tsx";
export { StrengthMeter, type StrengthMeterProps } from "./strength/StrengthMeter.tsx";
export { Stepper, type StepperProps } from "./Stepper.tsx";
export { TagField, type TagFieldProps } from "./TagField.tsx";
export { revealMilliseconds } from "./useReveal.ts";
