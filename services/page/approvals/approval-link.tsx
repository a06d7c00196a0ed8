import { linkTo } from '../base/route.ts';
import { isViewer } from '../base/signed-in.ts';

/** The address of one approval, to be sent to whoever is to answer it. A viewer sees no approvals. */
export const ApprovalLink = ({ approvalId }: { readonly approvalId: string }) =>
  isViewer() ? null : (
    <a href={linkTo(['approvals', approvalId])} aria-label="Link to this approval">
      Link
    </a>
  );
